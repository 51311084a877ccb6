/* Reruns of compiled programs on their retained outputs.  The slow path is `rerun_recent` of
   compile/recent_calls.py.

   Between two runs all handles, values and payloads have left the processor's caches, and each
   access waits for memory.  So objects of one kind are prefetched together, before any is read.
   Gathered payloads are borrowed until they are all found; nothing that may run other threads may
   come between. */

#if defined(__GNUC__)
#define PREFETCH(object) __builtin_prefetch(object)
#else
#define PREFETCH(object) ((void)(object))
#endif

enum { UNREAD_FLAGS = 64 }; /* `MOST` of dispatch/pending_errors.py */
enum { OF_VALUE = 2, OF_PAYLOAD = 1 }; /* counts of an unshared value (held by state and handle), and of its payload (by state) */

/* True if each handle holds its value, and nothing but the list and the handle does. */
static int
values_unshared(PyObject *handles, PyObject *values)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); i++) {
        PyObject *value = PyList_GET_ITEM(values, i);
        if (SLOT(PyList_GET_ITEM(handles, i), array__value) != value || Py_REFCNT(value) != OF_VALUE) {
            return 0;
        }
    }
    return 1;
}

static void
prefetch_all(PyObject *list)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PREFETCH(PyList_GET_ITEM(list, i));
    }
}

/* True for a writeable array in C order that is neither a view nor a variable: `is_plain` of
   compile/plain_arguments.py. */
static int
is_plain_array(PyObject *argument)
{
    PyObject *rare, *payload;
    if (!IS_ARRAY(argument) || SLOT(argument, array__view) != Py_None || !IS(SLOT(argument, array__value), value_)) {
        return 0;
    }
    rare = SLOT(argument, array__extra);
    if (rare != Py_None && (SLOT(rare, extra_readonly) != Py_False || SLOT(rare, extra_leaf) != Py_None ||
                            SLOT(rare, extra_grad_handle) != Py_None || SLOT(rare, extra_layout) != Py_None)) {
        return 0;
    }
    payload = SLOT(SLOT(argument, array__value), value_payload);
    return IS(payload, xla_array_) ||
           (IS_NDARRAY(payload) && PyArray_IS_C_CONTIGUOUS((PyArrayObject *)payload) && PyArray_NBYTES((PyArrayObject *)payload) < LARGE_BLOCK);
}

/* Gather the payloads of plain arguments with these avals, compared by identity: arrays that one
   program made share their aval.  Those on the host are copied to XLA.  0 if one differs, -1 for
   errors; new references. */
static int
gather_inputs(PyObject *traced, PyObject *args, PyObject *types, PyObject *mode, PyObject **payloads)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        if (!is_plain_array(PyTuple_GET_ITEM(args, i))) {
            return 0;
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *value = SLOT(PyTuple_GET_ITEM(args, i), array__value), *payload = SLOT(value, value_payload), *aval;
        if (SLOT(traced, traced_differentiates) == Py_True && SLOT(value, value_node) != Py_None) {
            return 0; /* it was recorded outside */
        }
        if (IS_NDARRAY(payload) && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(mode, backend_at), "numpy") == 0) {
            return 0; /* it stays on the host */
        }
        Py_INCREF(payload);
        if (IS_NDARRAY(payload)) {
            PyObject *name = PyObject_GetAttr(SLOT(traced, traced_op), name_name);
            PyObject *sent = name == NULL ? NULL : PyObject_CallFunctionObjArgs(transfer_to_xla_, payload, mode, name, NULL);
            Py_XDECREF(name);
            Py_SETREF(payload, sent);
        }
        payloads[i] = payload;
        aval = payload == NULL ? NULL : PyObject_GetAttr(payload, aval_name);
        if (aval == NULL) {
            return -1;
        }
        Py_DECREF(aval);
        if (aval != PyTuple_GET_ITEM(types, i) || !IS(payload, xla_array_)) {
            return 0;
        }
    }
    return 1;
}

/* Gather the captured operands of a program, if its retained outputs are current:
   `RetainedOutputs.operands`. */
static int
gather_state(PyObject *state, int differentiates, PyObject **found)
{
    PyObject *payloads = SLOT(state, state_payloads), *places = SLOT(state, state_places), *read_only = SLOT(state, state_read_only);
    PyObject *lazy_values = SLOT(state, state_lazy_values);
    Py_ssize_t kept = PyList_GET_SIZE(payloads), given = PyLong_AsSsize_t(SLOT(state, state_given));
    prefetch_all(SLOT(state, state_handles));
    prefetch_all(SLOT(state, state_values));
    prefetch_all(payloads);
    prefetch_all(SLOT(state, state_recomputable));
    prefetch_all(lazy_values);
    prefetch_all(read_only);
    if (!values_unshared(SLOT(state, state_handles), SLOT(state, state_values)) || !values_unshared(SLOT(state, state_recomputable), lazy_values)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(lazy_values); i++) {
        if (IS(PyList_GET_ITEM(lazy_values, i), value_)) {
            return 0; /* the lazy value has been made */
        }
    }
    for (Py_ssize_t i = 0; i < kept; i++) {
        PyObject *payload = PyList_GET_ITEM(payloads, i);
        if ((i < given && Py_REFCNT(payload) != OF_PAYLOAD) || !IS(payload, xla_array_)) {
            return 0;
        }
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(read_only); i++) {
        PyObject *handle = PyList_GET_ITEM(read_only, i), *value = SLOT(handle, array__value), *rare = SLOT(handle, array__extra);
        if (!IS(value, value_) || !IS(SLOT(value, value_payload), xla_array_)) {
            return 0;
        }
        if (differentiates && SLOT(value, value_node) != Py_None && (rare == Py_None || SLOT(rare, extra_leaf) != SLOT(value, value_node))) {
            return 0; /* it was written while recording */
        }
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(places); i++) {
        Py_ssize_t at = PyLong_AsSsize_t(PyList_GET_ITEM(places, i));
        found[i] = at < kept ? PyList_GET_ITEM(payloads, at) : SLOT(SLOT(PyList_GET_ITEM(read_only, at - kept), array__value), value_payload);
    }
    return 1;
}

/* Keep error flags for the next read; -1 if one of those that were computed long ago is set, or in
   another thread than the main one: `expect` of dispatch/pending_errors.py. */
static int
expect_flags(PyObject *flags, PyObject *errors)
{
    PyObject *pair, *read = NULL, *left;
    int kept;
    if (PyThread_get_thread_ident() != PyLong_AsUnsignedLong(main_thread_)) {
        read = PyObject_CallFunctionObjArgs(expect_, flags, errors, NULL);
        Py_XDECREF(read);
        return read == NULL ? -1 : 0;
    }
    pair = PyTuple_Pack(2, flags, errors);
    kept = pair != NULL && PyList_Append(pending_, pair) == 0;
    Py_XDECREF(pair);
    if (!kept || PyList_GET_SIZE(pending_) <= 2 * UNREAD_FLAGS) {
        return kept ? 0 : -1;
    }
    if ((left = PyLong_FromLong(UNREAD_FLAGS)) != NULL) {
        read = PyObject_CallOneArg(raise_pending_, left);
        Py_DECREF(left);
    }
    Py_XDECREF(read);
    return read == NULL ? -1 : 0;
}

/* Wait for an array of flags on XLA; True if the host can read its memory, and none is set.  Python
   reads other arrays, and finds the flag that is set. */
static PyObject *
is_clear(PyObject *Py_UNUSED(module), PyObject *flags)
{
    Py_buffer view;
    int found = 0;
    if (connected && IS(flags, xla_array_) && !several_devices()) {
        if (PyObject_GetBuffer(flags, &view, PyBUF_SIMPLE) == 0) {
            found = memchr(view.buf, 1, view.len) == NULL;
            PyBuffer_Release(&view);
        }
        PyErr_Clear(); /* on an accelerator, or its computation has failed, which Python says */
    }
    return PyBool_FromLong(found);
}

/* Retain the written outputs of a program, keep its error flags for the next read, and return its
   one array or scalar: `Program.finished` for such programs. */
static PyObject * /* new; steals the results */
retain_outputs(PyObject *kind, PyObject *state, PyObject *errors, PyObject *results)
{
    Py_ssize_t kept = PyTuple_GET_SIZE(results) - (errors == Py_None ? 1 : 2);
    PyObject *made = new_handle(kind, Py_NewRef(PyTuple_GET_ITEM(results, kept))), *payloads, *version;
    if (made != NULL && state != Py_None) {
        if ((payloads = PyList_New(kept)) == NULL || (version = PyIter_Next(clock_)) == NULL) {
            Py_XDECREF(payloads);
            Py_CLEAR(made);
        }
        else {
            for (Py_ssize_t i = 0; i < kept; i++) {
                PyList_SET_ITEM(payloads, i, Py_NewRef(PyTuple_GET_ITEM(results, i)));
            }
            Py_SETREF(SLOT(state, state_version), version);
            Py_SETREF(SLOT(state, state_payloads), payloads);
        }
    }
    if (made != NULL && errors != Py_None && expect_flags(PyTuple_GET_ITEM(results, kept + 1), errors) < 0) {
        Py_CLEAR(made);
    }
    Py_DECREF(results);
    return made;
}

/* Run a traced program on arguments with the avals of an earlier call; FALL_BACK if the slow path
   is needed.  Returns the function's result if that is one array or scalar and nothing is left to
   do, else the tuple of the program's results. */
static PyObject * /* new */
try_fast_rerun(PyObject *traced, PyObject *args, PyObject *types)
{
    PyObject *mode, *state = SLOT(traced, traced_state), *program, *kind, *found = FALL_BACK, **payloads, *results;
    Py_ssize_t given = PyTuple_GET_SIZE(args), reads, count;
    int is_alike, is_pure = SLOT(traced, traced_pure) == Py_True, gathered;
    if (given != PyTuple_GET_SIZE(types) || (mode = default_mode_or_null()) == NULL) {
        return FALL_BACK;
    }
    is_alike = PyTuple_GET_ITEM(mode, training_at) == SLOT(traced, traced_training) &&
               (PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero) == (SLOT(traced, traced_numpy_dtypes) != zero);
    reads = is_pure || state == Py_None ? 0 : PyList_GET_SIZE(SLOT(state, state_places));
    if (!is_alike || (state == Py_None && !is_pure) || (count = reads + given) == 0 ||
        (program = PyDict_GetItemWithError(SLOT(traced, traced_programs), SLOT(traced, traced_key))) == NULL) {
        Py_DECREF(mode);
        return FALL_BACK;
    }
    if ((payloads = PyMem_New(PyObject *, count)) == NULL) {
        Py_DECREF(mode);
        return PyErr_NoMemory();
    }
    memset(payloads, 0, count * sizeof(PyObject *));
    Py_INCREF(state); /* while XLA runs, other threads may replace the program's state */
    Py_INCREF(program);
    gathered = gather_inputs(traced, args, types, mode, payloads + reads);
    Py_DECREF(mode);
    if (gathered == 1 && !is_pure) {
        gathered = SLOT(traced, traced_state) == state && gather_state(state, SLOT(traced, traced_differentiates) == Py_True, payloads);
        for (Py_ssize_t i = 0; i < reads; i++) {
            gathered ? Py_INCREF(payloads[i]) : (void)(payloads[i] = NULL);
        }
    }
    if (gathered == 1) {
        found = called_program(program, payloads, count);
        if (found == NULL && several_devices() && PyErr_ExceptionMatches(PyExc_ValueError)) {
            PyErr_Clear(); /* operands may lie apart, and nothing is donated yet: Python brings them together */
            found = FALL_BACK;
        }
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_XDECREF(payloads[i]);
    }
    PyMem_Free(payloads);
    if (found != NULL && SLOT(SLOT(traced, traced_op), op_outputs) == one) {
        Py_SETREF(found, PyTuple_Pack(1, found));
    }
    kind = SLOT(traced, traced_alone);
    results = found;
    if (found != NULL && PyTuple_CheckExact(found) && kind != Py_None) {
        results = retain_outputs(kind, state, SLOT(traced, traced_errors), found);
    }
    Py_DECREF(program);
    Py_DECREF(state);
    return results;
}

/* True if what a program has read is as it was; -1 for errors: `Guards.hold`, which is called if
   objects of npcompat's own have changed since. */
static int
program_guards_hold(PyObject *traced)
{
    PyObject *guards = SLOT(traced, traced_guards), *found;
    int holds = PyObject_RichCompareBool(SLOT(guards, guards_stamp), PyList_GET_ITEM(changes_, 0), Py_EQ);
    if (holds == 1) {
        return PyTuple_GET_SIZE(SLOT(guards, guards_always)) == 0 ? 1 : all_guards_hold(SLOT(guards, guards_always));
    }
    if (holds < 0 || (found = PyObject_CallMethodNoArgs(guards, hold_name)) == NULL) {
        return -1;
    }
    holds = PyObject_IsTrue(found);
    Py_DECREF(found);
    return holds;
}

/* Run a program here, or else in Python; the result may be `NO_CACHED_RUN`. */
static PyObject * /* new */
rerun_program(PyObject *traced, PyObject *args, PyObject *types, PyObject *mode)
{
    PyObject *found = try_fast_rerun(traced, args, types);
    if (found == NULL && !PyErr_Occurred()) {
        return PyObject_CallMethodObjArgs(traced, rerun_name, args, types, mode, NULL);
    }
    if (found != NULL && PyTuple_CheckExact(found)) {
        Py_SETREF(found, PyObject_CallMethodObjArgs(traced, finished_name, found, args, args, NULL));
    }
    return found;
}

/* Run a program that reads or writes captured arrays, unless another thread holds the lock: NULL
   without an error then, and where a captured array has another type. */
static PyObject * /* new */
rerun_locked(PyObject *traced, PyObject *args, PyObject *types, PyObject *mode)
{
    PyObject *found = PyObject_CallMethodOneArg(program_lock_, acquire_name, Py_False), *released;
    PyObject *kind, *error, *trace;
    int taken = found == NULL ? -1 : PyObject_IsTrue(found);
    Py_XDECREF(found);
    if (taken <= 0) {
        return NULL;
    }
    found = rerun_program(traced, args, types, mode);
    if (found == NULL && PyErr_ExceptionMatches(captured_type_error_)) {
        PyErr_Clear(); /* the slow path traces again, and says why */
    }
    PyErr_Fetch(&kind, &error, &trace);
    if ((released = PyObject_CallMethodNoArgs(program_lock_, release_name)) == NULL) {
        Py_CLEAR(found);
        Py_XDECREF(kind);
        Py_XDECREF(error);
        Py_XDECREF(trace);
        return NULL;
    }
    Py_DECREF(released);
    PyErr_Restore(kind, error, trace);
    return found;
}

/* Run the first recent program of a function whose guards hold and whose arguments are like those
   of an earlier call; `NO_CACHED_RUN` if there is none. */
static PyObject *
rerun_recent(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count)
{
    if (count != 3 || !connected || !PyList_CheckExact(given[0]) || !PyTuple_CheckExact(given[1])) {
        return PyErr_Format(PyExc_TypeError, "rerun_recent() takes a list of recent programs, arguments and a mode");
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(given[0]); i++) {
        PyObject *recent = PyList_GET_ITEM(given[0], i), *traced, *types, *found = Py_NewRef(no_cached_run_);
        int holds;
        if (!PyTuple_CheckExact(recent) || PyTuple_GET_SIZE(recent) != 2 || !IS(traced = PyTuple_GET_ITEM(recent, 0), traced_) ||
            !PyTuple_CheckExact(types = PyTuple_GET_ITEM(recent, 1))) {
            Py_DECREF(found);
            return PyErr_Format(PyExc_TypeError, "rerun_recent(): a recent program is a tuple of the program and of avals");
        }
        Py_INCREF(recent); /* guards may run code that drops the program */
        if ((holds = program_guards_hold(traced)) == 1) {
            Py_DECREF(found);
            found = SLOT(traced, traced_pure) == Py_True ? rerun_program(traced, given[1], types, given[2]) : rerun_locked(traced, given[1], types, given[2]);
        }
        else if (holds < 0) {
            Py_CLEAR(found);
        }
        Py_DECREF(recent);
        if (found == NULL) {
            return PyErr_Occurred() ? NULL : Py_NewRef(no_cached_run_);
        }
        if (found != no_cached_run_) {
            return found;
        }
        Py_DECREF(found);
    }
    return Py_NewRef(no_cached_run_);
}
