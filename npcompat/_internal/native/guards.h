/* Guards of compiled functions, and the profile function that visits calls during a trace.

   Guards are tuples that Python made (compile/guards.py); they and their items are borrowed.  The
   Python of the same meaning is `_guards_hold` and `_profiled` of native/fast_path.py. */

enum guard_kind { GUARD_ITEM, GUARD_SEQUENCE, GUARD_MAPPING, GUARD_ATTRIBUTE, GUARD_CHECK, GUARD_LACKS };

/* True for the same object, and for an equal plain value of the same class; -1 for errors. */
static int
is_as_before(PyObject *now, PyObject *before)
{
    if (now == before) {
        return 1;
    }
    if (now == NULL || Py_TYPE(now) != Py_TYPE(before)) {
        return 0;
    }
    if (PyFloat_CheckExact(now)) {
        return memcmp(&((PyFloatObject *)now)->ob_fval, &((PyFloatObject *)before)->ob_fval, sizeof(double)) == 0;
    }
    if (PyLong_CheckExact(now) || PyUnicode_CheckExact(now) || PyBytes_CheckExact(now)) {
        return PyObject_RichCompareBool(now, before, Py_EQ);
    }
    if (PyComplex_CheckExact(now)) {
        Py_complex a = PyComplex_AsCComplex(now), b = PyComplex_AsCComplex(before);
        return memcmp(&a, &b, sizeof(a)) == 0;
    }
    if (PyTuple_CheckExact(now)) {
        int same = PyTuple_GET_SIZE(now) == PyTuple_GET_SIZE(before);
        for (Py_ssize_t i = 0; same == 1 && i < PyTuple_GET_SIZE(now); i++) {
            same = is_as_before(PyTuple_GET_ITEM(now, i), PyTuple_GET_ITEM(before, i));
        }
        return same;
    }
    if (PyMethod_Check(now)) { /* made at each access */
        return PyMethod_GET_FUNCTION(now) == PyMethod_GET_FUNCTION(before) && PyMethod_GET_SELF(now) == PyMethod_GET_SELF(before);
    }
    return 0;
}

/* True for equal keys of the same class; True is not 1 here, nor 0.0 -0.0.  -1 for errors. */
static int
is_same_key(PyObject *now, PyObject *before)
{
    int same = is_as_before(now, before);
    if (same != 0 || Py_TYPE(now) != Py_TYPE(before) || PyFloat_CheckExact(now) || PyComplex_CheckExact(now) || PyTuple_CheckExact(now)) {
        return same;
    }
    return PyObject_RichCompareBool(before, now, Py_EQ);
}

/* True if two dicts have no key in common; -1 for errors. */
static int
are_disjoint(PyObject *one, PyObject *other)
{
    PyObject *key;
    Py_ssize_t at = 0;
    int found = 0;
    if (PyDict_GET_SIZE(one) > PyDict_GET_SIZE(other)) {
        return are_disjoint(other, one);
    }
    while (found == 0 && PyDict_Next(one, &at, &key, NULL)) {
        Py_INCREF(key); /* a comparison of keys may run code that removes it */
        found = PyDict_Contains(other, key);
        Py_DECREF(key);
    }
    return found < 0 ? -1 : !found;
}

static int
guard_holds(PyObject *guard)
{
    PyObject *object, *key, *before, *now, *was, *key_now;
    Py_ssize_t at = 0, here = 0;
    int holds = 0;
    if (!PyTuple_CheckExact(guard) || PyTuple_GET_SIZE(guard) != 4) {
        PyErr_SetString(PyExc_TypeError, "a guard is a tuple of a kind, an object, a key and a value");
        return -1;
    }
    object = PyTuple_GET_ITEM(guard, 1);
    key = PyTuple_GET_ITEM(guard, 2);
    before = PyTuple_GET_ITEM(guard, 3);
    switch (PyLong_AsLong(PyTuple_GET_ITEM(guard, 0))) {
    case GUARD_ITEM:
        now = PyDict_GetItemWithError(object, key);
        return now == NULL && PyErr_Occurred() ? -1 : is_as_before(now, before);
    case GUARD_SEQUENCE:
        holds = PyList_GET_SIZE(object) == PyTuple_GET_SIZE(before);
        for (Py_ssize_t i = 0; holds == 1 && i < PyTuple_GET_SIZE(before) && i < PyList_GET_SIZE(object); i++) {
            holds = is_as_before(PyList_GET_ITEM(object, i), PyTuple_GET_ITEM(before, i));
        }
        return holds;
    case GUARD_MAPPING:
        holds = PyDict_GET_SIZE(object) == PyDict_GET_SIZE(before);
        while (holds == 1 && PyDict_Next(before, &at, &key, &was)) { /* in order, in which it is iterated over, too */
            if (!PyDict_Next(object, &here, &key_now, &now)) {
                return 0;
            }
            Py_INCREF(now); /* a comparison of keys may run code that removes it */
            Py_INCREF(key_now);
            holds = is_same_key(key_now, key);
            holds = holds == 1 ? is_as_before(now, was) : holds;
            Py_DECREF(key_now);
            Py_DECREF(now);
        }
        return holds;
    case GUARD_ATTRIBUTE:
        if ((now = PyObject_GetAttr(object, key)) == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
                return -1;
            }
            PyErr_Clear();
            return 0;
        }
        holds = is_as_before(now, before);
        Py_DECREF(now);
        return holds;
    case GUARD_CHECK:
        if ((now = PyObject_CallNoArgs(object)) == NULL) {
            return -1;
        }
        holds = PyObject_IsTrue(now);
        Py_DECREF(now);
        return holds;
    case GUARD_LACKS:
        return are_disjoint(object, before);
    }
    return 0;
}

/* True if each guard of a tuple holds; -1 for errors. */
static int
all_guards_hold(PyObject *guards)
{
    int holds = 1;
    for (Py_ssize_t i = 0; holds == 1 && i < PyTuple_GET_SIZE(guards); i++) {
        holds = guard_holds(PyTuple_GET_ITEM(guards, i));
    }
    return holds;
}

static PyObject *
guards_hold(PyObject *Py_UNUSED(module), PyObject *guards)
{
    int holds;
    if (!PyTuple_CheckExact(guards)) {
        return PyErr_Format(PyExc_TypeError, "guards_hold() takes a tuple of guards");
    }
    holds = all_guards_hold(guards);
    return holds < 0 ? NULL : PyBool_FromLong(holds);
}

/* At the call of a function in C that `watched` holds: call `clocked` with the caller's frame and
   the function. */
static int
seen_c_call(PyObject *watch, PyFrameObject *frame, PyObject *function)
{
    int wanted = PySet_Contains(PyTuple_GET_ITEM(watch, 3), function);
    PyObject *done;
    if (wanted <= 0) {
        PyErr_Clear(); /* it has no hash */
        return 0;
    }
    done = PyObject_CallFunctionObjArgs(PyTuple_GET_ITEM(watch, 4), (PyObject *)frame, function, NULL);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* True for results that hold no state. */
static int
is_stateless(PyObject *value)
{
    return value == NULL || value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) ||
           IS_OURS(value);
}

/* Profile function: at the call of a Python function whose code `classify` accepts, call `visit`
   with the frame, and at its return with the frame and the result. */
static int
seen_call(PyObject *watch, PyFrameObject *frame, int what, PyObject *argument)
{
    PyObject *verdicts = PyTuple_GET_ITEM(watch, 0), *code, *key, *verdict, *done;
    int failed = 0;
    if (what == PyTrace_C_CALL) {
        return seen_c_call(watch, frame, argument);
    }
    if (what != PyTrace_CALL && (what != PyTrace_RETURN || is_stateless(argument))) {
        return 0;
    }
    code = (PyObject *)PyFrame_GetCode(frame);
    if ((key = PyLong_FromVoidPtr(code)) == NULL) {
        Py_DECREF(code);
        return -1;
    }
    verdict = PyDict_GetItemWithError(verdicts, key); /* a pair of the code, which it keeps alive, and the answer of `classify` */
    if (verdict == NULL && !PyErr_Occurred()) {
        PyObject *wanted = PyObject_CallOneArg(PyTuple_GET_ITEM(watch, 1), code), *pair = wanted == NULL ? NULL : PyTuple_Pack(2, code, wanted);
        if (pair != NULL && PyDict_SetItem(verdicts, key, pair) == 0) {
            verdict = pair; /* the dict holds it */
        }
        Py_XDECREF(pair);
        Py_XDECREF(wanted);
    }
    Py_DECREF(key);
    Py_DECREF(code);
    if (verdict == NULL) {
        return -1;
    }
    if (PyTuple_GET_ITEM(verdict, 1) == Py_True) {
        done = PyObject_CallFunctionObjArgs(PyTuple_GET_ITEM(watch, 2), (PyObject *)frame, what == PyTrace_RETURN ? argument : NULL, NULL);
        failed = done == NULL;
        Py_XDECREF(done);
    }
    return failed ? -1 : 0;
}

/* Call a function with the profile function set; another profiler of this thread is suspended
   meanwhile. */
static PyObject *
profiled(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    PyThreadState *thread = PyThreadState_Get();
    Py_tracefunc before = thread->c_profilefunc;
    PyObject *before_with, *verdicts, *watch, *found;
    if (count != 5 || !PyFrozenSet_CheckExact(args[3])) {
        return PyErr_Format(PyExc_TypeError, "profiled() takes a function, classify, visit, a frozenset and clocked");
    }
    if ((verdicts = PyDict_New()) == NULL || (watch = PyTuple_Pack(5, verdicts, args[1], args[2], args[3], args[4])) == NULL) {
        Py_XDECREF(verdicts);
        return NULL;
    }
    before_with = Py_XNewRef(thread->c_profileobj);
    PyEval_SetProfile(seen_call, watch);
    found = PyObject_CallNoArgs(args[0]);
    PyEval_SetProfile(before, before_with);
    Py_XDECREF(before_with);
    Py_DECREF(watch);
    Py_DECREF(verdicts);
    return found;
}
