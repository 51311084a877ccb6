/* Application of operators by programs that exist, or by NumPy's own functions.

   Operands are borrowed from the caller; their payloads are owned until `release`.  The slow path
   is `apply_slow_path` of dispatch/apply.py. */

typedef struct {
    PyObject *payloads[MOST_OPERANDS];
    Py_ssize_t count;
    int on_xla, on_host; /* true if some payloads are */
    int weak;            /* true if there are Python numbers */
    int any_number;      /* true if a number may not fit the dtype, which NumPy's own functions check themselves */
    int arrays;          /* true if there are arrays, not only scalars */
    int numpys;          /* true if there are NumPy's own scalars, or only numbers */
} Operands;

static void
release(Operands *operands)
{
    while (operands->count > 0) {
        Py_DECREF(operands->payloads[--operands->count]);
    }
}

/* True if a Python int fits every integer dtype. */
static int
is_small(PyObject *number)
{
    int overflow;
    long found = PyLong_AsLongAndOverflow(number, &overflow);
    return !overflow && 0 <= found && found < 128;
}

static int
fits_64_bits(PyObject *number)
{
    int overflow;
    PyLong_AsLongLongAndOverflow(number, &overflow);
    return !overflow;
}

/* True for numbers and bools of NumPy's own classes, but no long doubles. */
static int
is_numpys_number(PyObject *object)
{
    return !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) && (PyArray_IsScalar(object, Number) || PyArray_IsScalar(object, Bool)) &&
           !PyArray_IsScalar(object, LongDouble) && !PyArray_IsScalar(object, CLongDouble);
}

/* True for the element by element functions of NumPy's, called without options. */
static int
is_plain_ufunc(PyObject *op, PyObject *attrs)
{
    return SLOT(op, op_ufunc) != Py_None && SLOT(op, op_outputs) == one && PyTuple_GET_SIZE(attrs) == 0;
}

/* Gather the payloads of operands; 0 for operands other than arrays, scalars and numbers, and for
   mixed backends.  NumPy's scalars, and numbers alone, are taken for plain ufuncs where new arrays
   are placed on the host. */
static int
gather(PyObject *op, PyObject *const *args, Py_ssize_t count, PyObject *attrs, PyObject *mode, Operands *operands)
{
    operands->count = operands->on_xla = operands->on_host = operands->weak = operands->any_number = operands->arrays = operands->numpys = 0;
    if (count > MOST_OPERANDS) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *arg = args[i], *payload;
        if (IS_OURS(arg)) {
            if ((payload = payload_read(arg)) == NULL) {
                return 0;
            }
            operands->payloads[operands->count++] = payload;
            operands->arrays |= IS(arg, array_);
            if (IS(payload, xla_array_)) {
                operands->on_xla = 1;
            }
            else if (IS_NDARRAY(payload) && (is_common(PyArray_DESCR((PyArrayObject *)payload)) || PyTypeNum_ISUSERDEF(TYPE_NUMBER(payload)))) {
                operands->on_host = 1;
            }
            else {
                return 0;
            }
            continue;
        }
        if (PyLong_CheckExact(arg)) {
            if (!is_small(arg) && SLOT(op, op_rule) != keep_) {
                operands->any_number = 1;
                if (!fits_64_bits(arg)) {
                    return 0;
                }
            }
        }
        else if (PyComplex_CheckExact(arg)) {
            operands->any_number = 1;
        }
        else if (is_numpys_number(arg)) {
            if ((payload = PyArray_FromScalar(arg, NULL)) == NULL) {
                return 0;
            }
            operands->payloads[operands->count++] = payload;
            operands->numpys = 1;
            continue;
        }
        else if (!PyFloat_CheckExact(arg)) {
            return 0;
        }
        operands->weak = 1;
        operands->payloads[operands->count++] = Py_NewRef(arg);
    }
    if (operands->numpys || !(operands->on_xla || operands->on_host)) {
        if (operands->on_xla || !is_plain_ufunc(op, attrs) || place_of(mode) != ON_HOST) {
            return 0;
        }
        operands->on_host = operands->numpys = 1;
    }
    return operands->on_xla != operands->on_host;
}

/* True if this process uses more than its first device. */
static int
several_devices(void)
{
    return PyList_GET_ITEM(several_, 0) == Py_True;
}

/* True if an array on XLA that is written keeps its place without Python, which looks after layouts
   on several devices: it is on one, on which what is written (NULL for a number) lies, too. */
static int
keeps_its_place(PyObject *before, PyObject *new)
{
    PyObject *place, *other = NULL;
    int same = 1;
    if (several_devices()) {
        place = PyObject_GetAttr(before, sharding_name);
        same = place != NULL && IS(place, on_one_device_) &&
               (new == NULL || ((other = PyObject_GetAttr(new, sharding_name)) != NULL && PyObject_RichCompareBool(place, other, Py_EQ) == 1));
        Py_XDECREF(place);
        Py_XDECREF(other);
    }
    return same;
}

/* Call a program on payloads, and leave the x64 scope that a compilation has entered. */
static PyObject * /* new */
called_program(PyObject *program, PyObject *const *payloads, Py_ssize_t count)
{
    PyObject *made;
    Py_INCREF(program);
    made = PyObject_Vectorcall(program, payloads, count, NULL);
    Py_DECREF(program);
    if (PyDict_GET_SIZE(x64_scopes_) > 0) {
        PyObject *kind, *error, *trace, *done;
        PyErr_Fetch(&kind, &error, &trace);
        done = PyObject_CallNoArgs(exit_x64_scope_);
        if (done == NULL) {
            Py_CLEAR(made);
            Py_XDECREF(kind);
            Py_XDECREF(error);
            Py_XDECREF(trace);
            return NULL;
        }
        Py_DECREF(done);
        PyErr_Restore(kind, error, trace);
    }
    if (several_devices() && made != NULL) {
        PyObject *ended = PyObject_CallOneArg(block_on_cpu_mesh_, made);
        Py_DECREF(made);
        made = ended;
    }
    return made;
}

/* Call a program of an operator; Python replaces its error by NumPy's. */
static PyObject * /* new */
call_program(PyObject *op, PyObject *program, Operands *operands, PyObject *attrs)
{
    PyObject *made = called_program(program, operands->payloads, operands->count);
    if (made == NULL && PyErr_ExceptionMatches(call_errors_)) {
        PyObject *kind, *error, *trace, *given;
        PyErr_Fetch(&kind, &error, &trace);
        PyErr_NormalizeException(&kind, &error, &trace);
        if (trace != NULL) {
            PyException_SetTraceback(error, trace);
        }
        given = PyList_New(operands->count);
        for (Py_ssize_t i = 0; given != NULL && i < operands->count; i++) {
            PyList_SET_ITEM(given, i, Py_NewRef(operands->payloads[i]));
        }
        if (given != NULL) {
            made = PyObject_CallFunctionObjArgs(raise_failed_, op, given, attrs, error, NULL); /* raises */
            Py_DECREF(given);
        }
        Py_XDECREF(kind);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    return made;
}

/* A table of an operator's programs, by its position in `ProgramCache.direct`. */
static inline PyObject * /* borrowed */
programs_of(PyObject *op, Py_ssize_t table)
{
    return PyTuple_GET_ITEM(SLOT(SLOT(op, op_programs), program_cache_direct), table);
}

/* Run the cached program of an operator; FALL_BACK if there is none. */
static PyObject * /* new */
run_program(PyObject *op, Operands *operands, PyObject *attrs, Py_ssize_t table)
{
    PyObject *program = PyDict_GetItemWithError(programs_of(op, table), attrs);
    return program == NULL ? NULL : call_program(op, program, operands, attrs);
}

/* Convert a result of NumPy's to an array, which may be a scalar; NULL stays NULL. */
static PyObject * /* new; steals what was made */
as_array(PyObject *made)
{
    PyObject *array;
    if (made == NULL || IS_NDARRAY(made)) {
        return made;
    }
    array = PyArray_IsScalar(made, Generic) ? PyArray_FromScalar(made, NULL) : PyArray_FROM_O(made);
    Py_DECREF(made);
    return array;
}

/* Call NumPy's own function on host operands.  Operands without any array are passed as NumPy's
   scalars, to the infix operator if there is one.  FALL_BACK if the result's dtype is not that of
   the policy. */
static PyObject * /* new */
run_numpys(PyObject *function, PyObject *infix, Operands *operands, int numpy_dtypes)
{
    int wide = 0, inexact = 0, weak_inexact = 0, number;
    PyObject *made;
    for (Py_ssize_t i = 0; i < operands->count; i++) {
        PyObject *payload = operands->payloads[i];
        if (!IS_NDARRAY(payload)) {
            weak_inexact |= !PyLong_CheckExact(payload);
            continue;
        }
        number = TYPE_NUMBER(payload);
        wide |= number == NPY_DOUBLE || number == NPY_CDOUBLE;
        inexact |= number > NPY_ULONGLONG;
        if (number >= EXTENDED) {
            return FALL_BACK; /* NumPy does not treat Python numbers as weak beside these */
        }
    }
    if (weak_inexact && !inexact && !numpy_dtypes) {
        return FALL_BACK; /* it would compute in 64 bits */
    }
    if (operands->arrays || (infix == NULL && operands->count > 1)) {
        made = PyObject_Vectorcall(function, operands->payloads, operands->count, NULL);
    }
    else {
        Operands scalars = {.count = 0};
        for (made = NULL; scalars.count < operands->count; scalars.count++) {
            PyObject *payload = operands->payloads[scalars.count];
            if ((scalars.payloads[scalars.count] = IS_NDARRAY(payload) ? as_numpys_scalar(payload) : Py_NewRef(payload)) == NULL) {
                break;
            }
        }
        if (scalars.count == operands->count) {
            made = PyObject_Vectorcall(infix == NULL ? function : infix, scalars.payloads, scalars.count, NULL);
        }
        release(&scalars);
    }
    if ((made = as_array(made)) == NULL) {
        return NULL;
    }
    number = TYPE_NUMBER(made);
    if (number >= EXTENDED || ((number == NPY_DOUBLE || number == NPY_CDOUBLE) && !numpy_dtypes && !wide)) {
        Py_DECREF(made);
        return FALL_BACK;
    }
    return made;
}

enum recording { NOTHING, RECORDED, UNKNOWN };

/* RECORDED if an operand of a differentiable operator has a node; UNKNOWN for views, whose values
   are not read here. */
static enum recording
recording_of(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    enum recording found = NOTHING;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (IS_OURS(args[i])) {
            if (SLOT(args[i], array__view) != Py_None || !IS(SLOT(args[i], array__value), value_)) {
                return UNKNOWN;
            }
            if (SLOT(SLOT(args[i], array__value), value_node) != Py_None && SLOT(op, op_differentiable) == Py_True) {
                found = RECORDED;
            }
        }
    }
    return found;
}

/* Record an operator on the host: put a new node on its result, if that is a float. */
static PyObject * /* new; steals the result */
recorded(PyObject *op, PyObject *const *args, Py_ssize_t count, PyObject *handle)
{
    PyObject *node, *value = SLOT(handle, array__value), *payload = SLOT(value, value_payload);
    PyObject *inputs = PyTuple_New(count), *mask = PyTuple_New(count);
    int number = TYPE_NUMBER(payload);
    if (inputs == NULL || mask == NULL) {
        goto failed;
    }
    if (!PyTypeNum_ISFLOAT(number) && !PyTypeNum_ISCOMPLEX(number)) {
        Py_DECREF(inputs);
        Py_DECREF(mask);
        return handle;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *input = IS_OURS(args[i]) ? Py_NewRef(SLOT(args[i], array__value)) : new_value(Py_NewRef(args[i]));
        if (input == NULL) {
            goto failed;
        }
        PyTuple_SET_ITEM(inputs, i, input);
        PyTuple_SET_ITEM(mask, i, PyBool_FromLong(SLOT(input, value_node) != Py_None));
    }
    if ((node = new_instance(node_)) == NULL) {
        goto failed;
    }
    SLOT(node, node_op) = Py_NewRef(op);
    SLOT(node, node_attrs) = Py_NewRef(no_attrs);
    SLOT(node, node_inputs) = inputs;
    SLOT(node, node_mask) = mask;
    SLOT(node, node_pullback) = Py_NewRef(later_);
    SLOT(node, node_outputs) = Py_NewRef(one);
    if ((SLOT(node, node_sequence) = PyIter_Next(sequence_)) == NULL) {
        Py_DECREF(node);
        Py_DECREF(handle);
        return NULL;
    }
    Py_SETREF(SLOT(value, value_node), node);
    return handle;
failed:
    Py_XDECREF(inputs);
    Py_XDECREF(mask);
    Py_DECREF(handle);
    return NULL;
}

/* Apply an operator to operands; FALL_BACK if the slow path is needed. */
static PyObject * /* new */
applied(PyObject *op, PyObject *const *args, Py_ssize_t count, PyObject *attrs, int only_on_host, PyObject *infix)
{
    Operands operands;
    PyObject *made = FALL_BACK, *result, *mode;
    int numpy_dtypes, records, gathered;
    enum recording recording = NOTHING;
    if (count == 0 || (mode = executing_mode(&records)) == NULL) {
        return NULL;
    }
    numpy_dtypes = PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero;
    if (records && (recording = recording_of(op, args, count)) == UNKNOWN) {
        Py_DECREF(mode);
        return FALL_BACK;
    }
    gathered = gather(op, args, count, attrs, mode, &operands);
    Py_DECREF(mode);
    if (!gathered || (recording == RECORDED && operands.numpys)) {
        release(&operands);
        return NULL;
    }
    if (recording == RECORDED) {
        if (operands.on_host && is_plain_ufunc(op, attrs) && !only_programs) {
            made = run_numpys(SLOT(op, op_ufunc), NULL, &operands, numpy_dtypes);
        }
        release(&operands);
        made = made == NULL ? NULL : wrapped_result(op, made, 1);
        return made == NULL ? NULL : recorded(op, args, count, made);
    }
    if (operands.on_xla) {
        if (!operands.any_number && !only_on_host) {
            for (Py_ssize_t i = 0; operands.weak && i < count; i++) {
                if (!IS(operands.payloads[i], xla_array_)) {
                    PyObject *sent = PyObject_CallOneArg(xla_scalar_, operands.payloads[i]);
                    if (sent == NULL) {
                        release(&operands);
                        return NULL;
                    }
                    Py_SETREF(operands.payloads[i], sent);
                }
            }
            made = run_program(op, &operands, attrs, xla_programs + numpy_dtypes);
        }
    }
    else {
        if (is_plain_ufunc(op, attrs) && !only_programs) {
            made = run_numpys(SLOT(op, op_ufunc), records ? NULL : infix, &operands, numpy_dtypes);
        }
        if (made == NULL && !PyErr_Occurred() && !operands.any_number && !operands.numpys && SLOT(op, op_prefers_xla) != Py_True) {
            made = run_program(op, &operands, attrs, host_programs + numpy_dtypes);
        }
    }
    release(&operands);
    if (made == NULL || SLOT(op, op_outputs) == one) {
        return made == NULL ? NULL : wrapped_result(op, made, 0);
    }
    result = PySequence_Tuple(made);
    Py_DECREF(made);
    if (result != NULL) {
        PyObject *handles = PyTuple_New(PyTuple_GET_SIZE(result));
        for (Py_ssize_t i = 0; handles != NULL && i < PyTuple_GET_SIZE(result); i++) {
            PyObject *handle = wrapped_result(op, Py_NewRef(PyTuple_GET_ITEM(result, i)), 0);
            if (handle == NULL) {
                Py_CLEAR(handles);
                break;
            }
            PyTuple_SET_ITEM(handles, i, handle);
        }
        Py_SETREF(result, handles);
    }
    return result;
}
