/* The short way of frequent calls: what takes Python 1 to 2 us takes 0.1 here.

   `connect` tells this module the classes, functions and caches of the Python modules around it.  Where a call is not one of the most
   frequent, the *whole way* is taken, which is Python and knows everything; so nothing is decided here: a function either does
   what the whole way would do, or has done nothing when it says NOT_SHORT.

   A call is short if the mode is plain (nothing is recorded, traced, observed), and its operands are arrays or scalars of ours, not of
   classes that users derive, or Python numbers; all of them on XLA, or all on the host.

   Attributes of handles, values, views and operators are slots of Python classes, and are read where they lie. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <structmember.h>

/* --- what is known of the Python modules --------------------------------------------------------------------------- */

enum {
    DEEPEST_VIEW = 100, /* as in host_keys.py */
    MOST_OPERANDS = 8,
    EXTENDED = 256 /* numbers of dtypes from here on are not NumPy's own */
};

/* Classes, a ContextVar and the list with its default, functions, the list of contexts that compilations entered. */
#define CONNECTIONS(DO)                                                                                                     \
    DO(array) DO(scalar) DO(value) DO(view) DO(extra) DO(key_lens) DO(op) DO(xla_array) DO(mode_variable) DO(default_mode)  \
    DO(whole) DO(read) DO(failed) DO(on_devices) DO(xla_scalar) DO(lowering) DO(lowered) DO(keep) DO(clock) DO(call_errors)     \
    DO(no_value) DO(direct) DO(node) DO(later) DO(sequence)

#define DECLARE(name) static PyObject *name##_;
CONNECTIONS(DECLARE)

#define ENTRY(name) {#name, &name##_},
static struct {
    const char *name;
    PyObject **place;
} const connections[] = {CONNECTIONS(ENTRY){NULL, NULL}};

/* Slots of Python classes: where they lie in an instance. */
#define SLOTS(DO)                                                                                                           \
    DO(array, _value) DO(array, _view) DO(array, _extra) DO(value, payload) DO(value, node) DO(value, index)                \
    DO(view, cached) DO(view, depth) DO(view, lens) DO(view, parent) DO(view, root) DO(view, version)                       \
    DO(key_lens, key) DO(key_lens, shape) DO(extra, leaf) DO(extra, readonly) DO(extra, version)               \
    DO(extra, layout) DO(op, differentiable) DO(node, op) DO(node, attrs) DO(node, inputs) DO(node, mask)                   \
    DO(node, pullback) DO(node, outputs) DO(node, sequence)                                                                                                       \
    DO(op, ufunc) DO(op, outputs) DO(op, scalars) DO(op, heavy) DO(op, programs) DO(op, rule) DO(op, inputs)

#define DECLARE_SLOT(type, name) static Py_ssize_t type##_##name;
SLOTS(DECLARE_SLOT)

#define SLOT_ENTRY(type, name) {&type##_, #name, &type##_##name},
static struct {
    PyObject **type;
    const char *name;
    Py_ssize_t *offset;
} const slots[] = {SLOTS(SLOT_ENTRY){NULL, NULL, NULL}};

#define SLOT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

static int connected;
static Py_ssize_t plain_at, records_at, numpy_dtypes_at; /* fields of modes */
static Py_ssize_t host_programs;             /* where the programs of the host begin among those of an operator */
static int binary_op;                        /* the number of the instruction */
static int only_programs;                    /* a policy of precision holds, of which NumPy's own functions know nothing */
static PyObject *zero, *one, *no_attrs, *out_keyword;
static PyObject *out_name, *dtype_name, *aval_name, *shape_name, *payload_name, *on_host_name, *plain_name, *records_name, *numpy_dtypes_name;

#define NOT_SHORT NULL /* and no error is set */

/* --- reading ------------------------------------------------------------------------------------------------------- */

/* The mode, where operators are executed; and whether they are recorded.  NOT_SHORT if anything else happens. */
static PyObject * /* new */
executing_mode(int *records)
{
    PyObject *mode;
    if (!connected) {
        return NOT_SHORT;
    }
    if (PyContextVar_Get(mode_variable_, PyList_GET_ITEM(default_mode_, 0), &mode) < 0) {
        return NULL;
    }
    *records = PyTuple_GET_ITEM(mode, records_at) == Py_True;
    if (!*records && PyTuple_GET_ITEM(mode, plain_at) != Py_True) {
        Py_DECREF(mode);
        return NOT_SHORT;
    }
    return mode;
}

static PyObject * /* new */
plain_mode(void)
{
    int records = 0;
    PyObject *mode = executing_mode(&records);
    if (mode != NULL && records) {
        Py_CLEAR(mode);
    }
    return mode;
}

static int
is_plain(void)
{
    PyObject *mode = plain_mode();
    Py_XDECREF(mode);
    return mode != NULL;
}

#define IS(object, class) ((PyObject *)Py_TYPE(object) == class)
#define IS_OURS(object) (IS(object, array_) || IS(object, scalar_))
#define IS_NDARRAY(object) (Py_TYPE(object) == &PyArray_Type)
#define TYPE_NUMBER(array) (PyArray_DESCR((PyArrayObject *)(array))->type_num)

static PyObject * /* new */
payload_of(PyObject *value)
{
    if (IS(value, value_)) {
        return Py_NewRef(SLOT(value, value_payload));
    }
    return PyObject_GetAttr(value, payload_name); /* lent, or kept by a compiled program */
}

/* What a handle on the host means, as a NumPy array that sees later writes; NOT_SHORT if it is elsewhere. */
static PyObject * /* new */
live(PyObject *handle)
{
    PyObject *view = SLOT(handle, array__view), *above, *lens, *found;
    if (view == Py_None) {
        found = payload_of(SLOT(handle, array__value));
    }
    else {
        if ((above = live(SLOT(view, view_parent))) == NULL) {
            return NULL;
        }
        lens = SLOT(view, view_lens);
        if (IS(lens, key_lens_)) {
            found = PyObject_GetItem(above, SLOT(lens, key_lens_key));
        }
        else {
            found = PyObject_CallMethodOneArg(lens, on_host_name, above);
        }
        Py_DECREF(above);
    }
    if (found != NULL && !IS_NDARRAY(found)) {
        Py_DECREF(found);
        return NOT_SHORT;
    }
    return found;
}

/* The payload of an array or scalar, wherever it is. */
static PyObject * /* new */
payload_read(PyObject *handle)
{
    PyObject *found, *value;
    if (SLOT(handle, array__view) == Py_None) {
        return payload_of(SLOT(handle, array__value));
    }
    if ((found = live(handle)) != NULL || PyErr_Occurred()) {
        return found;
    }
    if ((value = PyObject_CallOneArg(read_, handle)) == NULL) {
        return NULL;
    }
    found = payload_of(value);
    Py_DECREF(value);
    return found;
}

static int
is_readonly(PyObject *handle)
{
    PyObject *rare = SLOT(handle, array__extra);
    return rare != Py_None && SLOT(rare, extra_readonly) != Py_False;
}

/* Whether a dtype is one of those of NumPy's own that devices have: numbers of up to 64 bits, with their bytes in order. */
static int
is_common(PyArray_Descr *dtype)
{
    int number = dtype->type_num;
    return ((number <= NPY_CDOUBLE && number != NPY_LONGDOUBLE) || number == NPY_HALF) && PyDataType_ISNOTSWAPPED(dtype);
}

/* --- making -------------------------------------------------------------------------------------------------------- */

static PyObject * /* new */
allocated(PyObject *type)
{
    return ((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
}

static PyObject * /* new; steals the payload */
valued(PyObject *payload)
{
    PyObject *value = allocated(value_);
    if (value == NULL) {
        Py_DECREF(payload);
        return NULL;
    }
    SLOT(value, value_payload) = payload;
    SLOT(value, value_node) = Py_NewRef(Py_None);
    SLOT(value, value_index) = Py_NewRef(zero);
    return value;
}

static PyObject * /* new; steals the payload */
wrapped(PyObject *type, PyObject *payload)
{
    PyObject *handle, *value = valued(payload);
    if (value == NULL) {
        return NULL;
    }
    if ((handle = allocated(type)) == NULL) {
        Py_DECREF(value);
        return NULL;
    }
    SLOT(handle, array__value) = value;
    SLOT(handle, array__view) = Py_NewRef(Py_None);
    SLOT(handle, array__extra) = Py_NewRef(Py_None);
    return handle;
}

/* A result of an operator as users see it: a scalar where NumPy returns one; objects, strings and dates are NumPy's own. */
static PyObject * /* new; steals the payload */
wrapped_result(PyObject *op, PyObject *payload)
{
    int has_axes;
    PyObject *found;
    if (SLOT(op, op_scalars) != Py_True) {
        return wrapped(array_, payload);
    }
    if (IS_NDARRAY(payload)) {
        has_axes = PyArray_NDIM((PyArrayObject *)payload) > 0;
    }
    else {
        PyObject *aval = PyObject_GetAttr(payload, aval_name), *shape = NULL;
        if (aval != NULL) {
            shape = PyObject_GetAttr(aval, shape_name);
            Py_DECREF(aval);
        }
        if (shape == NULL) {
            Py_DECREF(payload);
            return NULL;
        }
        has_axes = PyObject_Size(shape) > 0;
        Py_DECREF(shape);
    }
    if (has_axes) {
        return wrapped(array_, payload);
    }
    if (IS_NDARRAY(payload) && !is_common(PyArray_DESCR((PyArrayObject *)payload))) {
        PyObject *known = PyObject_CallOneArg(on_devices_, (PyObject *)PyArray_DESCR((PyArrayObject *)payload));
        if (known == NULL || known == Py_False) {
            found = known == NULL ? NULL : PyObject_GetItem(payload, no_attrs);
            Py_XDECREF(known);
            Py_DECREF(payload);
            return found;
        }
        Py_DECREF(known);
    }
    return wrapped(scalar_, payload);
}

/* --- operators ----------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject *payloads[MOST_OPERANDS];
    Py_ssize_t count;
    int on_xla, on_host; /* whether some are */
    int weak;            /* whether there are Python numbers */
    int any_number;      /* whether there are some that only NumPy's own functions may be given: whether they fit, it knows */
    int arrays;          /* whether there are arrays, which scalars are not */
} Operands;

static void
release(Operands *operands)
{
    while (operands->count > 0) {
        Py_DECREF(operands->payloads[--operands->count]);
    }
}

/* Whether a Python number is small enough for every integer dtype. */
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

/* The payloads of operands; 0 if there are others than arrays, scalars and Python numbers. */
static int
gather(PyObject *op, PyObject *const *args, Py_ssize_t count, Operands *operands)
{
    operands->count = operands->on_xla = operands->on_host = operands->weak = operands->any_number = operands->arrays = 0;
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
        else if (!PyFloat_CheckExact(arg)) {
            return 0;
        }
        operands->weak = 1;
        operands->payloads[operands->count++] = Py_NewRef(arg);
    }
    return operands->on_xla != operands->on_host;
}

/* What a program makes of operands; what it raises is explained by Python.  NOT_SHORT if there is no program. */
static PyObject * /* new */
run_program(PyObject *op, Operands *operands, PyObject *attrs, Py_ssize_t table)
{
    PyObject *programs = PyTuple_GET_ITEM(SLOT(op, op_programs), table);
    PyObject *program = PyDict_GetItemWithError(programs, attrs), *made;
    if (program == NULL) {
        return NULL;
    }
    Py_INCREF(program);
    made = PyObject_Vectorcall(program, operands->payloads, operands->count, NULL);
    Py_DECREF(program);
    if (PyDict_GET_SIZE(lowering_) > 0) {
        PyObject *kind, *error, *trace, *done;
        PyErr_Fetch(&kind, &error, &trace);
        done = PyObject_CallNoArgs(lowered_);
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
            made = PyObject_CallFunctionObjArgs(failed_, op, given, attrs, error, NULL); /* raises */
            Py_DECREF(given);
        }
        Py_XDECREF(kind);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    return made;
}

/* What NumPy returned, as an array, also where it is a scalar; NULL stays NULL. */
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

static PyObject * /* new */
as_numpys_scalar(PyObject *array)
{
    return PyArray_ToScalar(PyArray_DATA((PyArrayObject *)array), (PyArrayObject *)array);
}

/* What NumPy's own function makes of operands, or its infix operator of scalars, as which it knows those that no array is beside; NOT_SHORT
   where its dtype is not that of our policy. */
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
            return NOT_SHORT; /* NumPy does not know that Python numbers are weak beside these */
        }
    }
    if (weak_inexact && !inexact && !numpy_dtypes) {
        return NOT_SHORT; /* it would compute in 64 bits */
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
        return NOT_SHORT;
    }
    return made;
}

enum recording { NOTHING, RECORDED, UNKNOWN };

/* Whether what an operator makes of operands is to be recorded; UNKNOWN for views, which look at what may be. */
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

/* Record an operator on the host: a new node on its result, if that is a float. */
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
        PyObject *input = IS_OURS(args[i]) ? Py_NewRef(SLOT(args[i], array__value)) : valued(Py_NewRef(args[i]));
        if (input == NULL) {
            goto failed;
        }
        PyTuple_SET_ITEM(inputs, i, input);
        PyTuple_SET_ITEM(mask, i, PyBool_FromLong(SLOT(input, value_node) != Py_None));
    }
    if ((node = allocated(node_)) == NULL) {
        goto failed;
    }
    SLOT(node, node_op) = Py_NewRef(op);
    SLOT(node, node_attrs) = Py_NewRef(no_attrs);
    SLOT(node, node_inputs) = inputs;
    SLOT(node, node_mask) = mask;
    SLOT(node, node_pullback) = Py_NewRef(later_);
    SLOT(node, node_outputs) = Py_NewRef(one);
    SLOT(node, node_sequence) = PyIter_Next(sequence_);
    Py_SETREF(SLOT(value, value_node), node);
    return handle;
failed:
    Py_XDECREF(inputs);
    Py_XDECREF(mask);
    Py_DECREF(handle);
    return NULL;
}

/* Apply an operator to operands; NOT_SHORT if the whole way has to. */
static PyObject * /* new */
applied(PyObject *op, PyObject *const *args, Py_ssize_t count, PyObject *attrs, int only_on_host, PyObject *infix)
{
    Operands operands;
    PyObject *made = NOT_SHORT, *result, *mode;
    int numpy_dtypes, records;
    enum recording recording = NOTHING;
    if (count == 0 || (mode = executing_mode(&records)) == NULL) {
        return NULL;
    }
    numpy_dtypes = PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero;
    Py_DECREF(mode);
    if (records && (recording = recording_of(op, args, count)) == UNKNOWN) {
        return NOT_SHORT;
    }
    if (!gather(op, args, count, &operands)) {
        release(&operands);
        return NULL;
    }
    if (recording == RECORDED) {
        if (operands.on_host && SLOT(op, op_ufunc) != Py_None && SLOT(op, op_outputs) == one && PyTuple_GET_SIZE(attrs) == 0 &&
            !only_programs) {
            made = run_numpys(SLOT(op, op_ufunc), NULL, &operands, numpy_dtypes);
        }
        release(&operands);
        made = made == NULL ? NULL : wrapped_result(op, made);
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
            made = run_program(op, &operands, attrs, numpy_dtypes);
        }
    }
    else {
        if (SLOT(op, op_ufunc) != Py_None && SLOT(op, op_outputs) == one && PyTuple_GET_SIZE(attrs) == 0 && !only_programs) {
            made = run_numpys(SLOT(op, op_ufunc), records ? NULL : infix, &operands, numpy_dtypes);
        }
        if (made == NULL && !PyErr_Occurred() && !operands.any_number && SLOT(op, op_heavy) != Py_True) {
            made = run_program(op, &operands, attrs, host_programs + numpy_dtypes);
        }
    }
    release(&operands);
    if (made == NULL || SLOT(op, op_outputs) == one) {
        return made == NULL ? NULL : wrapped_result(op, made);
    }
    result = PySequence_Tuple(made);
    Py_DECREF(made);
    if (result != NULL) {
        PyObject *handles = PyTuple_New(PyTuple_GET_SIZE(result));
        for (Py_ssize_t i = 0; handles != NULL && i < PyTuple_GET_SIZE(result); i++) {
            PyObject *handle = wrapped_result(op, Py_NewRef(PyTuple_GET_ITEM(result, i)));
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

/* --- elements and views ---------------------------------------------------------------------------------------------- */

static int
is_fixed_part(PyObject *key)
{
    if (PySlice_Check(key)) {
        PySliceObject *slice = (PySliceObject *)key;
        return (slice->start == Py_None || PyLong_CheckExact(slice->start)) && (slice->stop == Py_None || PyLong_CheckExact(slice->stop)) &&
               (slice->step == Py_None || PyLong_CheckExact(slice->step));
    }
    return PyLong_CheckExact(key) || key == Py_None || key == Py_Ellipsis;
}

/* Whether a key is basic, and nothing in it can change later. */
static int
is_fixed(PyObject *key)
{
    if (!PyTuple_CheckExact(key)) {
        return is_fixed_part(key);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        if (!is_fixed_part(PyTuple_GET_ITEM(key, i))) {
            return 0;
        }
    }
    return 1;
}

/* A part of a key that is an array or scalar of ours, as NumPy takes it: positions, a mask, or an int; NOT_SHORT for others. */
static PyObject * /* new */
numpys_part(PyObject *key)
{
    PyObject *array, *number, *found;
    int kind;
    if (!IS_OURS(key) || (array = live(key)) == NULL) {
        return NULL;
    }
    kind = TYPE_NUMBER(array);
    if (!is_common(PyArray_DESCR((PyArrayObject *)array)) || kind > NPY_ULONGLONG || (IS(key, scalar_) && kind == NPY_BOOL)) {
        Py_DECREF(array);
        return NOT_SHORT;
    }
    if (!IS(key, scalar_)) {
        return array;
    }
    number = as_numpys_scalar(array);
    found = number == NULL ? NULL : PyNumber_Index(number);
    Py_XDECREF(number);
    Py_DECREF(array);
    return found;
}

/* A key as NumPy takes it, and whether it is basic; NOT_SHORT if there is anything in it but what `is_fixed_part` knows, and arrays and
   scalars of ours. */
static PyObject * /* new */
numpys_key(PyObject *key, int *basic)
{
    PyObject *parts;
    *basic = is_fixed(key);
    if (*basic) {
        return Py_NewRef(key);
    }
    if (!PyTuple_CheckExact(key)) {
        parts = numpys_part(key);
        *basic = parts != NULL && PyLong_CheckExact(parts);
        return parts;
    }
    if ((parts = PyTuple_New(PyTuple_GET_SIZE(key))) == NULL) {
        return NULL;
    }
    *basic = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
        PyObject *part = PyTuple_GET_ITEM(key, i);
        if (is_fixed_part(part)) {
            Py_INCREF(part);
        }
        else if ((part = numpys_part(part)) == NULL) {
            Py_DECREF(parts);
            return NULL;
        }
        *basic &= !IS_NDARRAY(part);
        PyTuple_SET_ITEM(parts, i, part);
    }
    return parts;
}

/* Where the element lies that a key of ints names; NULL, and no error, if it names none. */
static char *
element_at(PyArrayObject *array, PyObject *key)
{
    int ndim = PyArray_NDIM(array), overflow;
    PyObject *const *items = &key;
    char *place = PyArray_BYTES(array);
    if (PyTuple_CheckExact(key)) {
        if (PyTuple_GET_SIZE(key) != ndim || ndim == 0) {
            return NULL;
        }
        items = &PyTuple_GET_ITEM(key, 0);
    }
    else if (ndim != 1) {
        return NULL;
    }
    for (int axis = 0; axis < ndim; axis++) {
        long long position;
        npy_intp length = PyArray_DIM(array, axis);
        if (!PyLong_CheckExact(items[axis])) {
            return NULL;
        }
        position = PyLong_AsLongLongAndOverflow(items[axis], &overflow);
        if (position < 0) {
            position += length;
        }
        if (overflow || position < 0 || position >= length) {
            return NULL;
        }
        place += position * PyArray_STRIDE(array, axis);
    }
    return place;
}

static PyObject * /* new */
scalar_at(PyArrayObject *array, const char *place)
{
    PyArray_Descr *dtype = PyArray_DESCR(array);
    PyObject *made;
    Py_INCREF(dtype);
    if ((made = PyArray_NewFromDescr(&PyArray_Type, dtype, 0, NULL, NULL, NULL, 0, NULL)) == NULL) {
        return NULL;
    }
    memcpy(PyArray_DATA((PyArrayObject *)made), place, PyDataType_ELSIZE(dtype));
    return wrapped(scalar_, made);
}

/* What is rare about a handle, made at first use. */
static PyObject * /* borrowed */
rare_of(PyObject *handle)
{
    PyObject *made;
    if (SLOT(handle, array__extra) == Py_None) {
        if ((made = PyObject_CallNoArgs(extra_)) == NULL) {
            return NULL;
        }
        Py_SETREF(SLOT(handle, array__extra), made);
    }
    return SLOT(handle, array__extra);
}

/* A view through a lens, which is kept. */
static PyObject * /* new */
view_through(PyObject *handle, PyObject *lens)
{
    PyObject *above = SLOT(handle, array__view), *root = above == Py_None ? handle : SLOT(above, view_root);
    PyObject *view = NULL, *made = NULL, *depth = NULL;
    long deep = above == Py_None ? 1 : PyLong_AsLong(SLOT(above, view_depth)) + 1;
    if (deep > DEEPEST_VIEW || rare_of(root) == NULL) {
        return NULL;
    }
    depth = PyLong_FromLong(deep);
    view = allocated(view_);
    made = allocated(array_);
    if (depth == NULL || view == NULL || made == NULL) {
        Py_XDECREF(depth);
        Py_XDECREF(view);
        Py_XDECREF(made);
        return NULL;
    }
    SLOT(view, view_parent) = Py_NewRef(handle);
    SLOT(view, view_root) = Py_NewRef(root);
    SLOT(view, view_lens) = Py_NewRef(lens);
    SLOT(view, view_depth) = depth;
    SLOT(view, view_version) = Py_NewRef(zero);
    SLOT(view, view_cached) = Py_NewRef(Py_None);
    SLOT(made, array__view) = view;
    SLOT(made, array__extra) = Py_NewRef(Py_None);
    return made;
}

static PyObject * /* new */
view_of(PyObject *handle, PyArrayObject *array, PyObject *key)
{
    PyObject *shape = PyArray_IntTupleFromIntp(PyArray_NDIM(array), PyArray_SHAPE(array)), *lens = allocated(key_lens_), *made;
    if (shape == NULL || lens == NULL) {
        Py_XDECREF(shape);
        Py_XDECREF(lens);
        return NULL;
    }
    SLOT(lens, key_lens_key) = Py_NewRef(key);
    SLOT(lens, key_lens_shape) = shape;
    made = view_through(handle, lens);
    Py_DECREF(lens);
    return made;
}

/* `handle[key]`: an element, a view, or the copy that positions and masks make. */
static PyObject * /* new */
part_of(PyObject *handle, PyObject *given)
{
    PyObject *array, *key, *found, *made = NOT_SHORT;
    char *place;
    int basic;
    if (!IS(handle, array_) || is_readonly(handle) || !is_plain() || (key = numpys_key(given, &basic)) == NULL) {
        return NULL;
    }
    if ((array = live(handle)) != NULL && is_common(PyArray_DESCR((PyArrayObject *)array))) {
        if (basic && (place = element_at((PyArrayObject *)array, key)) != NULL) {
            made = scalar_at((PyArrayObject *)array, place);
        }
        else if ((found = PyObject_GetItem(array, key)) != NULL) {
            if (!basic) {
                made = IS_NDARRAY(found) ? wrapped(array_, Py_NewRef(found)) : NOT_SHORT;
            }
            else if (IS_NDARRAY(found)) {
                made = view_of(handle, (PyArrayObject *)array, key);
            }
            Py_DECREF(found);
        }
    }
    Py_XDECREF(array);
    Py_DECREF(key);
    return made;
}

/* --- writing ------------------------------------------------------------------------------------------------------- */

/* The buffer of a handle on the host, to be written: NOT_SHORT if anybody else holds it.  Once it is written, `is_written` has to be told. */
static PyObject * /* new */
own_buffer(PyObject *handle)
{
    PyObject *view = SLOT(handle, array__view), *root = view == Py_None ? handle : SLOT(view, view_root), *value, *payload, *rare, *version;
    if (SLOT(root, array__value) == NULL || !IS(SLOT(root, array__value), value_)) {
        return NOT_SHORT;
    }
    value = SLOT(root, array__value);
    payload = SLOT(value, value_payload);
    if (!IS_NDARRAY(payload) || PyArray_BASE((PyArrayObject *)payload) != NULL || Py_REFCNT(value) != 1 || Py_REFCNT(payload) != 1) {
        return NOT_SHORT;
    }
    rare = SLOT(root, array__extra);
    if (rare != Py_None) {
        if ((version = PyIter_Next(clock_)) == NULL) {
            return NULL;
        }
        Py_SETREF(SLOT(rare, extra_version), version);
    }
    return view == Py_None ? Py_NewRef(payload) : live(handle);
}

/* What was recorded of the values is no longer true. */
static void
is_written(PyObject *handle)
{
    PyObject *view = SLOT(handle, array__view), *root = view == Py_None ? handle : SLOT(view, view_root);
    PyObject *value = SLOT(root, array__value), *rare = SLOT(root, array__extra);
    Py_SETREF(SLOT(value, value_node), Py_NewRef(rare == Py_None ? Py_None : SLOT(rare, extra_leaf)));
    Py_SETREF(SLOT(value, value_index), Py_NewRef(zero));
}

static int
is_number(PyObject *object)
{
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) || PyComplex_CheckExact(object);
}

/* What is written, as NumPy takes it; NOT_SHORT for what is on XLA.  To be asked when `own_buffer` has looked who holds what. */
static PyObject * /* new */
as_numpys(PyObject *object)
{
    PyObject *array, *found;
    if (is_number(object)) {
        return Py_NewRef(object);
    }
    if ((array = live(object)) == NULL || !IS(object, scalar_)) {
        return array;
    }
    found = as_numpys_scalar(array); /* which NumPy checks, where it casts arrays */
    Py_DECREF(array);
    return found;
}

#define AS_FOUND (PyErr_Occurred() ? -1 : 0)

/* Whether a handle's elements are on the host, of a dtype of NumPy's own that devices have. */
static int
is_common_on_host(PyObject *handle)
{
    PyObject *found = live(handle);
    int common = found != NULL && is_common(PyArray_DESCR((PyArrayObject *)found));
    Py_XDECREF(found);
    return common;
}

/* `handle[key] = new`; 1 if it is done, 0 if it is not short, -1 for an error. */
static int
written(PyObject *handle, PyObject *given, PyObject *new)
{
    PyObject *key, *target, *source;
    int basic, failure;
    if (!IS(handle, array_) || !(is_number(new) || IS_OURS(new)) || is_readonly(handle) || !is_plain()) {
        return AS_FOUND;
    }
    if (IS_OURS(new) && SLOT(new, array__view) != Py_None) {
        PyObject *view = SLOT(new, array__view), *lens = SLOT(view, view_lens);
        if (SLOT(view, view_parent) == handle && IS(lens, key_lens_) && SLOT(lens, key_lens_key) == given) {
            return 1; /* `a[key] += x` ends with `a[key] = that view`, which is already written */
        }
    }
    if (!is_common_on_host(handle) || (IS_OURS(new) && !is_common_on_host(new)) || PyErr_Occurred() ||
        (key = numpys_key(given, &basic)) == NULL) {
        return AS_FOUND;
    }
    if ((target = own_buffer(handle)) == NULL || (source = as_numpys(new)) == NULL) {
        Py_XDECREF(target);
        Py_DECREF(key);
        return AS_FOUND;
    }
    failure = PyObject_SetItem(target, key, source);
    Py_DECREF(source);
    Py_DECREF(target);
    Py_DECREF(key);
    if (failure == 0) {
        is_written(handle);
    }
    return failure < 0 ? -1 : 1;
}

/* `handle += other` and its siblings by NumPy's own function; as above. */
static int
changed_in_place(PyObject *op, PyObject *handle, PyObject *other)
{
    PyObject *target, *source, *made, *arguments[3];
    if (!IS(handle, array_) || SLOT(op, op_ufunc) == Py_None || SLOT(op, op_outputs) != one || !(is_number(other) || IS_OURS(other)) ||
        is_readonly(handle) || !is_plain() || !is_common_on_host(handle) || (IS_OURS(other) && !is_common_on_host(other)) ||
        PyErr_Occurred() || (target = own_buffer(handle)) == NULL) {
        return AS_FOUND;
    }
    if ((source = is_number(other) ? Py_NewRef(other) : live(other)) == NULL) {
        Py_DECREF(target);
        return AS_FOUND;
    }
    arguments[0] = arguments[2] = target;
    arguments[1] = source;
    made = PyObject_Vectorcall(SLOT(op, op_ufunc), arguments, 2, out_keyword);
    Py_DECREF(source);
    Py_DECREF(target);
    if (made == NULL) {
        return -1;
    }
    Py_DECREF(made);
    is_written(handle);
    return 1;
}

/* `function(*operands, out=target)` by NumPy's own function; as above. */
static int
written_into(PyObject *op, PyObject *const *args, Py_ssize_t count, PyObject *out)
{
    PyObject *arguments[MOST_OPERANDS + 1], *made = NULL;
    Py_ssize_t i;
    if (!IS(out, array_) || count >= MOST_OPERANDS || SLOT(op, op_ufunc) == Py_None || SLOT(op, op_outputs) != one || is_readonly(out) ||
        !is_plain() || !is_common_on_host(out)) {
        return AS_FOUND;
    }
    for (i = 0; i < count; i++) {
        if (!is_number(args[i]) && !(IS_OURS(args[i]) && is_common_on_host(args[i]))) {
            return AS_FOUND;
        }
    }
    if ((arguments[count] = own_buffer(out)) == NULL) {
        return AS_FOUND;
    }
    for (i = 0; i < count; i++) {
        if ((arguments[i] = is_number(args[i]) ? Py_NewRef(args[i]) : live(args[i])) == NULL) {
            break;
        }
    }
    if (i == count) {
        made = PyObject_Vectorcall(SLOT(op, op_ufunc), arguments, count, out_keyword);
    }
    while (i > 0) {
        Py_DECREF(arguments[--i]);
    }
    Py_DECREF(arguments[count]);
    if (made == NULL) {
        return AS_FOUND;
    }
    Py_DECREF(made);
    is_written(out);
    return 1;
}

/* --- temporaries --------------------------------------------------------------------------------------------------- */

enum { WORTH_IT = 1 << 16 }; /* bytes of a temporary: asking costs about a microsecond; of a copy that might be shared */

/* Whether a part of an expression is being computed, not a call: only then is an operand that nobody but the interpreter holds of no
   further use.  What calls operators for itself may keep an operand without counting it. */
static int
in_expression(void)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyCodeObject *code;
    PyObject *bytes;
    int at, found = 0;
    if (frame == NULL || (at = PyFrame_GetLasti(frame)) < 0) {
        return 0;
    }
    code = PyFrame_GetCode(frame);
    if ((bytes = PyCode_GetCode(code)) != NULL) {
        found = at < PyBytes_GET_SIZE(bytes) && (unsigned char)PyBytes_AS_STRING(bytes)[at] == binary_op;
        Py_DECREF(bytes);
    }
    Py_DECREF(code);
    return found;
}

#if PY_VERSION_HEX >= 0x030E0000 /* whose interpreter does not count what it takes from local variables */
#define IS_TEMPORARY(object) PyUnstable_Object_IsUniqueReferencedTemporary(object)
#else
#define IS_TEMPORARY(object) (Py_REFCNT(object) == 1)
#endif

/* Whether nobody holds an array but the interpreter, and its buffer can take the sum with another operand, or its square. */
static int
can_take(PyObject *handle, PyObject *other)
{
    PyObject *value, *payload, *added = NULL;
    PyArrayObject *array;
    int number, takes;
    if (!IS(handle, array_) || !IS_TEMPORARY(handle) || SLOT(handle, array__view) != Py_None || SLOT(handle, array__extra) != Py_None) {
        return 0;
    }
    value = SLOT(handle, array__value);
    if (!IS(value, value_) || Py_REFCNT(value) != 1 || SLOT(value, value_node) != Py_None) {
        return 0;
    }
    payload = SLOT(value, value_payload);
    array = (PyArrayObject *)payload;
    if (!IS_NDARRAY(payload) || Py_REFCNT(payload) != 1 || PyArray_NBYTES(array) < WORTH_IT || PyArray_BASE(array) != NULL ||
        !PyArray_ISWRITEABLE(array)) {
        return 0;
    }
    number = PyArray_DESCR(array)->type_num;
    if (number != NPY_FLOAT && number != NPY_DOUBLE && number != NPY_CFLOAT && number != NPY_CDOUBLE) {
        return 0;
    }
    if (other == NULL || PyFloat_CheckExact(other) || (PyLong_CheckExact(other) && is_small(other))) {
        return is_common(PyArray_DESCR(array));
    }
    if (!IS_OURS(other) || (added = live(other)) == NULL) {
        return 0;
    }
    takes = TYPE_NUMBER(added) == number && PyArray_NDIM((PyArrayObject *)added) <= PyArray_NDIM(array);
    for (int axis = 1; takes && axis <= PyArray_NDIM((PyArrayObject *)added); axis++) {
        npy_intp length = PyArray_DIM((PyArrayObject *)added, PyArray_NDIM((PyArrayObject *)added) - axis);
        takes = length == 1 || length == PyArray_DIM(array, PyArray_NDIM(array) - axis);
    }
    takes = takes && is_common(PyArray_DESCR(array)) && is_common(PyArray_DESCR((PyArrayObject *)added));
    Py_DECREF(added);
    return takes;
}

/* `x1 + x2`, or of one operand, written into the one that is a temporary, as NumPy does it; NOT_SHORT if none is. */
static PyObject * /* new */
elided(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    PyObject *arguments[3], *made, *taken = NULL;
    for (Py_ssize_t i = 0; taken == NULL && i < count; i++) {
        taken = can_take(args[i], count == 1 ? NULL : args[1 - i]) ? args[i] : NULL;
    }
    if (taken == NULL || PyErr_Occurred() || !is_plain() || only_programs || !in_expression()) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if ((arguments[i] = IS_OURS(args[i]) ? live(args[i]) : Py_NewRef(args[i])) == NULL) {
            while (i > 0) {
                Py_DECREF(arguments[--i]);
            }
            return NULL;
        }
    }
    arguments[count] = arguments[taken == args[0] ? 0 : 1];
    made = PyObject_Vectorcall(SLOT(op, op_ufunc), arguments, count, out_keyword);
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_DECREF(arguments[i]);
    }
    if (made == NULL) {
        return NULL;
    }
    Py_DECREF(made);
    return Py_NewRef(taken);
}

/* --- calls that are remembered ------------------------------------------------------------------------------------------ */

/* A function of Python's looks at its arguments and applies an operator.  Where that depends on nothing but the classes, dtypes and
   numbers of axes of its operands, and on its other arguments, it says so, by `remembered` in place of `apply`; calls alike are short then.
   In the same way one that returns a view says by `seen` through which lens all arrays of the shape are seen. */

enum { MOST_ARGUMENTS = 12, MOST_CALLS = 8, MOST_VIEWED = 8, RARELY = 16, NO_ARRAY = -1 };

typedef struct {
    PyObject *op, *attrs;             /* an operator and its attributes; a lens and None */
    npy_intp shape[MOST_VIEWED];      /* of what is seen through the lens */
    PyObject *direct, *dtype; /* what computes it of arrays of NumPy's, which need not be cast, and what it returns; or NULL */
    PyObject *names[MOST_ARGUMENTS];  /* NULL for what is given by position */
    PyObject *values[MOST_ARGUMENTS]; /* classes in place of arrays */
    int kinds[MOST_ARGUMENTS], numpy_dtypes, origins[MOST_OPERANDS];
    Py_ssize_t count, operands;
} Memory;

typedef struct {
    Memory *found[MOST_CALLS];
    int used;
    unsigned missed; /* calls for which there was no place: each `RARELY`th takes that of another */
} Memories;

/* A call that is not remembered yet, while the function runs, and what it says. */
typedef struct {
    PyObject *names[MOST_ARGUMENTS], *values[MOST_ARGUMENTS]; /* borrowed */
    int kinds[MOST_ARGUMENTS], numpy_dtypes, times;
    Py_ssize_t count;
    PyObject *listed;                       /* what lists hold, which may change */
    PyObject *op, *attrs, *operands, *made; /* the last one borrowed */
} Call;

static PyObject *in_tuple, *in_list; /* stand in front of the arrays in one */

#ifdef _MSC_VER
#define PER_THREAD __declspec(thread)
#else
#define PER_THREAD _Thread_local
#endif
static PER_THREAD Call *calling;

/* The dtype and the number of axes of an array or scalar with elements, and whether it is known to lie in C order, in one number; NO_ARRAY
   for others, and errors.  What a view on XLA looks at is not computed for this. */
static int
kind_of(PyObject *handle)
{
    PyObject *rare = SLOT(handle, array__extra), *view = SLOT(handle, array__view), *root = view == Py_None ? handle : SLOT(view, view_root);
    PyObject *shape = NULL, *aval = NULL, *dtype = NULL, *payload;
    int own = view == Py_None && (rare == Py_None || SLOT(rare, extra_layout) == Py_None), kind = NO_ARRAY;
    if ((payload = live(handle)) != NULL) {
        if (PyArray_SIZE((PyArrayObject *)payload) > 0 && is_common(PyArray_DESCR((PyArrayObject *)payload))) {
            own = own && PyArray_IS_C_CONTIGUOUS((PyArrayObject *)payload);
            kind = TYPE_NUMBER(payload) << 8 | own << 7 | PyArray_NDIM((PyArrayObject *)payload);
        }
        Py_DECREF(payload);
        return kind;
    }
    if (PyErr_Occurred()) {
        return NO_ARRAY;
    }
    for (PyObject *above = handle; above != root; above = SLOT(SLOT(above, array__view), view_parent)) {
        if (!IS(SLOT(SLOT(above, array__view), view_lens), key_lens_)) {
            return NO_ARRAY; /* which may have another dtype */
        }
    }
    if ((payload = payload_of(SLOT(root, array__value))) == NULL) {
        return NO_ARRAY;
    }
    if (IS(payload, xla_array_) && (aval = PyObject_GetAttr(payload, aval_name)) != NULL && (dtype = PyObject_GetAttr(aval, dtype_name)) != NULL &&
        (shape = view == Py_None ? PyObject_GetAttr(aval, shape_name) : Py_NewRef(SLOT(SLOT(view, view_lens), key_lens_shape))) != NULL &&
        PyTuple_Check(shape) && PyArray_DescrCheck(dtype)) {
        kind = ((PyArray_Descr *)dtype)->type_num << 8 | own << 7 | (int)PyTuple_GET_SIZE(shape);
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); i++) {
            if (PyTuple_GET_ITEM(shape, i) == zero) {
                kind = NO_ARRAY;
            }
        }
    }
    Py_XDECREF(shape);
    Py_XDECREF(aval);
    Py_XDECREF(dtype);
    Py_DECREF(payload);
    return kind;
}

/* Whether an argument means the same forever. */
static int
is_constant(PyObject *given)
{
    if (PyTuple_CheckExact(given)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++) {
            if (!is_constant(PyTuple_GET_ITEM(given, i))) {
                return 0;
            }
        }
        return 1;
    }
    return given == Py_None || given == no_value_ || given == in_tuple || given == in_list || given == Py_Ellipsis ||
           PyUnicode_CheckExact(given) || PyBool_Check(given) || PyLong_CheckExact(given) || PyFloat_CheckExact(given) ||
           PyArray_DescrCheck(given) || PyType_CheckExact(given);
}

static int
is_same(PyObject *a, PyObject *b)
{
    if (a == b) {
        return 1;
    }
    if (Py_TYPE(a) != Py_TYPE(b)) {
        return 0;
    }
    if (PyTuple_CheckExact(a)) {
        int same = PyTuple_GET_SIZE(a) == PyTuple_GET_SIZE(b);
        for (Py_ssize_t i = 0; same && i < PyTuple_GET_SIZE(a); i++) {
            same = is_same(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i));
        }
        return same;
    }
    if (PyFloat_CheckExact(a)) {
        return memcmp(&((PyFloatObject *)a)->ob_fval, &((PyFloatObject *)b)->ob_fval, sizeof(double)) == 0;
    }
    return (PyLong_CheckExact(a) || PyUnicode_CheckExact(a)) && PyObject_RichCompareBool(a, b, Py_EQ) == 1;
}

static int
add_value(Call *call, PyObject *name, PyObject *value)
{
    if (call->count == MOST_ARGUMENTS) {
        return 0;
    }
    call->names[call->count] = name;
    call->values[call->count++] = value;
    return 1;
}

/* Add an argument, or the arrays in a tuple or a list; 0 if there are too many. */
static int
add_argument(Call *call, PyObject *name, PyObject *value)
{
    int fits, is_list = PyList_CheckExact(value);
    if (is_list && PyList_GET_SIZE(value) > 0 && IS_OURS(PyList_GET_ITEM(value, 0))) {
        if (call->listed != NULL || (value = call->listed = PyList_AsTuple(value)) == NULL) {
            return 0;
        }
    }
    else if (!PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) == 0 || !IS_OURS(PyTuple_GET_ITEM(value, 0))) {
        return add_value(call, name, value);
    }
    fits = add_value(call, name, is_list ? in_list : in_tuple);
    for (Py_ssize_t i = 0; fits && i < PyTuple_GET_SIZE(value); i++) {
        fits = IS_OURS(PyTuple_GET_ITEM(value, i)) && add_value(call, NULL, PyTuple_GET_ITEM(value, i));
    }
    return fits && add_value(call, NULL, in_tuple);
}

/* What is needed to remember a call; 0 if it can't be. */
static int
is_memorable(Call *call)
{
    int arrays = 0;
    for (Py_ssize_t i = 0; i < call->count; i++) {
        call->kinds[i] = NO_ARRAY;
        if (IS_OURS(call->values[i])) {
            arrays = 1;
            if ((call->kinds[i] = kind_of(call->values[i])) == NO_ARRAY) {
                return 0;
            }
        }
        else if (!is_constant(call->values[i])) {
            return 0;
        }
    }
    return arrays;
}

/* Tell the function around this one, which remembers it if it returns the same. */
static void
tell(PyObject *op, PyObject *operands, PyObject *attrs, PyObject *made)
{
    calling->times++;
    calling->made = made;
    Py_XSETREF(calling->op, Py_NewRef(op));
    Py_XSETREF(calling->operands, Py_NewRef(operands));
    Py_XSETREF(calling->attrs, Py_NewRef(attrs));
}

/* What a function of NumPy's own makes of operands on the host; NOT_SHORT, also where it raises something, which the whole way explains. */
static PyObject * /* new */
directly(Memory *memory, PyObject *const *operands)
{
    PyObject *payloads[MOST_OPERANDS], *made = NULL;
    Py_ssize_t i;
    for (i = 0; i < memory->operands; i++) {
        if ((payloads[i] = IS_OURS(operands[i]) ? live(operands[i]) : Py_NewRef(operands[i])) == NULL) {
            break;
        }
    }
    if (i == memory->operands) {
        made = as_array(PyObject_Vectorcall(memory->direct, payloads, i, NULL));
    }
    while (i > 0) {
        Py_DECREF(payloads[--i]);
    }
    if (made == NULL) {
        if (PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear();
        }
        return NULL;
    }
    if ((PyObject *)PyArray_DESCR((PyArrayObject *)made) != memory->dtype) {
        Py_DECREF(made);
        return NOT_SHORT;
    }
    return wrapped_result(memory->op, made);
}

/* Whether a lens is for arrays of this shape, and the array can be seen through it as every other. */
static int
is_seen(Memory *memory, PyObject *handle)
{
    PyObject *array = is_readonly(handle) ? NULL : live(handle);
    int same = array != NULL && PyArray_CompareLists(PyArray_DIMS((PyArrayObject *)array), memory->shape, PyArray_NDIM((PyArrayObject *)array));
    Py_XDECREF(array);
    return same;
}

/* Do for a call what was done for one like it.  Another thread may forget that meanwhile. */
static PyObject * /* new */
done_again(Memory *memory, Call *call)
{
    PyObject *operands[MOST_OPERANDS], *made = NOT_SHORT, *told;
    Memory held = *memory;
    Py_INCREF(held.op);
    Py_INCREF(held.attrs);
    Py_XINCREF(held.direct);
    Py_XINCREF(held.dtype);
    for (Py_ssize_t i = 0; i < held.operands; i++) {
        operands[i] = call->values[held.origins[i]];
    }
    if (held.attrs == Py_None) {
        made = is_seen(&held, operands[0]) ? view_through(operands[0], held.op) : NOT_SHORT;
    }
    else if (held.direct != NULL && !only_programs) {
        made = directly(&held, operands);
    }
    if (made == NULL && held.attrs != Py_None && !PyErr_Occurred()) {
        made = applied(held.op, operands, held.operands, held.attrs, 0, NULL);
    }
    if (made != NULL && calling != NULL) {
        if ((told = PyTuple_New(held.operands)) == NULL) {
            Py_CLEAR(made);
        }
        else {
            for (Py_ssize_t i = 0; i < held.operands; i++) {
                PyTuple_SET_ITEM(told, i, Py_NewRef(operands[i]));
            }
            tell(held.op, told, held.attrs, made);
            Py_DECREF(told);
        }
    }
    Py_DECREF(held.op);
    Py_DECREF(held.attrs);
    Py_XDECREF(held.direct);
    Py_XDECREF(held.dtype);
    return made;
}

static PyObject * /* new */
recalled(Memories *memories, Call *call)
{
    for (int at = 0; at < memories->used; at++) {
        Memory *memory = memories->found[at];
        int same = memory->count == call->count && memory->numpy_dtypes == call->numpy_dtypes;
        for (Py_ssize_t i = 0; same && i < call->count; i++) {
            PyObject *value = call->kinds[i] == NO_ARRAY ? call->values[i] : (PyObject *)Py_TYPE(call->values[i]);
            same = memory->names[i] == call->names[i] && memory->kinds[i] == call->kinds[i] && is_same(memory->values[i], value);
        }
        if (same) {
            int looks = memory->attrs == Py_None;
            PyObject *made = done_again(memory, call);
            if (made != NULL || PyErr_Occurred() || !looks) {
                return made; /* arrays of another shape may be seen through the next one's lens */
            }
        }
    }
    return NOT_SHORT;
}

static void
forget(Memory *memory)
{
    if (memory != NULL) {
        Py_XDECREF(memory->op);
        Py_XDECREF(memory->attrs);
        Py_XDECREF(memory->direct);
        Py_XDECREF(memory->dtype);
        for (Py_ssize_t i = 0; i < memory->count; i++) {
            Py_XDECREF(memory->names[i]);
            Py_XDECREF(memory->values[i]);
        }
        PyMem_Free(memory);
    }
}

static void
forget_all(Memories *memories)
{
    while (memories->used > 0) {
        forget(memories->found[--memories->used]);
    }
}

static int
visit_memories(Memories *memories, visitproc visit, void *arg)
{
    for (int at = 0; at < memories->used; at++) {
        Memory *memory = memories->found[at];
        Py_VISIT(memory->op);
        Py_VISIT(memory->attrs);
        Py_VISIT(memory->direct);
        for (Py_ssize_t i = 0; i < memory->count; i++) {
            Py_VISIT(memory->values[i]);
        }
    }
    return 0;
}

/* Remember what a function has said of a call.  Each operand has to be an argument, and each array an operand, and only one. */
static void
remember(Memories *memories, Call *call)
{
    Memory *memory;
    PyObject *found = Py_None, *direct = NULL, *dtype = NULL, *array = NULL;
    Py_ssize_t operands = PyTuple_GET_SIZE(call->operands);
    unsigned used = 0;
    int origins[MOST_OPERANDS], axes = 0;
    if (operands > MOST_OPERANDS || (memories->used == MOST_CALLS && ++memories->missed % RARELY)) {
        return;
    }
    for (Py_ssize_t i = 0; i < operands; i++) {
        int at = 0;
        while (at < call->count && call->values[at] != PyTuple_GET_ITEM(call->operands, i)) {
            at++;
        }
        if (at == call->count) {
            return;
        }
        origins[i] = at;
        used |= 1u << at;
    }
    for (Py_ssize_t i = 0; i < call->count; i++) {
        if (call->kinds[i] != NO_ARRAY && !(used & 1u << i)) {
            return;
        }
    }
    if (call->attrs == Py_None) {
        if ((array = live(PyTuple_GET_ITEM(call->operands, 0))) == NULL || (axes = PyArray_NDIM((PyArrayObject *)array)) > MOST_VIEWED) {
            Py_XDECREF(array);
            PyErr_Clear();
            return;
        }
        Py_INCREF(found);
    }
    else {
        found = PyObject_CallFunctionObjArgs(direct_, call->op, call->attrs, call->operands, NULL);
    }
    if (found == NULL || (found != Py_None && !PyArg_ParseTuple(found, "OO", &direct, &dtype))) {
        PyErr_WriteUnraisable(call->op);
        Py_XDECREF(found);
        return;
    }
    if ((memory = PyMem_Calloc(1, sizeof(Memory))) == NULL) {
        Py_DECREF(found);
        Py_XDECREF(array);
        return;
    }
    if (array != NULL) {
        memcpy(memory->shape, PyArray_DIMS((PyArrayObject *)array), axes * sizeof(npy_intp));
        Py_DECREF(array);
    }
    memory->op = Py_NewRef(call->op);
    memory->attrs = Py_NewRef(call->attrs);
    memory->direct = Py_XNewRef(direct);
    memory->dtype = Py_XNewRef(dtype);
    Py_DECREF(found);
    memory->numpy_dtypes = call->numpy_dtypes;
    memory->count = call->count;
    memory->operands = operands;
    memcpy(memory->origins, origins, sizeof(origins));
    for (Py_ssize_t i = 0; i < call->count; i++) {
        memory->names[i] = Py_XNewRef(call->names[i]);
        memory->kinds[i] = call->kinds[i];
        memory->values[i] = Py_NewRef(call->kinds[i] == NO_ARRAY ? call->values[i] : (PyObject *)Py_TYPE(call->values[i]));
    }
    if (memories->used < MOST_CALLS) {
        memories->found[memories->used++] = memory;
    }
    else {
        unsigned place = memories->missed / RARELY % MOST_CALLS;
        Memory *before = memories->found[place];
        memories->found[place] = memory;
        forget(before);
    }
}

/* Begin a call: 1 if it can be remembered, or is. */
static int
begun(Call *call)
{
    PyObject *mode = plain_mode();
    if (mode == NULL) {
        return 0;
    }
    call->numpy_dtypes = PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero;
    Py_DECREF(mode);
    return is_memorable(call);
}

/* Call a function, with `named` arguments in a dict, or named by a tuple of `keywords`.  What it says is for the call, or for nobody. */
static PyObject * /* new */
listened_to(PyObject *function, PyObject *const *args, size_t flags, PyObject *named, PyObject *keywords, Call *call)
{
    Call *outer = calling;
    PyObject *made;
    calling = call;
    made = named == NULL ? PyObject_Vectorcall(function, args, flags, keywords) : PyObject_VectorcallDict(function, args, flags, named);
    calling = outer;
    return made;
}

/* Call a function that may say that the call can be remembered, if it is not. */
static PyObject * /* new */
called(PyObject *function, PyObject *const *args, size_t flags, PyObject *named, PyObject *keywords, Memories *memories)
{
    Call call = {.count = 0, .times = 0, .listed = NULL, .op = NULL, .attrs = NULL, .operands = NULL, .made = NULL};
    PyObject *made = NULL, *name, *value;
    Py_ssize_t at = 0, count = PyVectorcall_NARGS(flags);
    int fits = 1;
    for (Py_ssize_t i = 0; fits && i < count; i++) {
        fits = add_argument(&call, NULL, args[i]);
    }
    for (Py_ssize_t i = 0; fits && keywords != NULL && i < PyTuple_GET_SIZE(keywords); i++) {
        fits = add_argument(&call, PyTuple_GET_ITEM(keywords, i), args[count + i]);
    }
    while (fits && named != NULL && PyDict_Next(named, &at, &name, &value)) {
        fits = add_argument(&call, name, value);
    }
    if (!fits || !begun(&call)) {
        made = PyErr_Occurred() ? NULL : listened_to(function, args, flags, named, keywords, NULL);
    }
    else if ((made = recalled(memories, &call)) == NULL && !PyErr_Occurred()) {
        made = listened_to(function, args, flags, named, keywords, &call);
        if (made != NULL && call.times == 1 && made == call.made) {
            remember(memories, &call);
            if (calling != NULL) {
                tell(call.op, call.operands, call.attrs, made);
            }
        }
    }
    Py_XDECREF(call.listed);
    Py_XDECREF(call.op);
    Py_XDECREF(call.attrs);
    Py_XDECREF(call.operands);
    return made;
}

/* --- functions of a module ----------------------------------------------------------------------------------------- */

/* A function of Python's.  If `_short` says that a call with nothing but operands applies an operator and does no more than that, such
   calls take the short way. */
typedef struct {
    PyObject_HEAD
    PyObject *function, *op;
    int only_on_host; /* what the function does besides is done by NumPy's own function on the host */
    Memories memories;
} Function;

static int
is_operator(PyObject *object)
{
    if (op_ != NULL && IS(object, op_)) {
        return 1;
    }
    PyErr_Format(PyExc_TypeError, "expected an operator, got %R", object);
    return 0;
}

static PyObject *
function_call(Function *self, PyObject *args, PyObject *kwargs)
{
    PyObject *made = NOT_SHORT, *out;
    Py_ssize_t count;
    if (self->function == NULL) {
        return PyErr_Format(PyExc_TypeError, "%R was made without a function", Py_TYPE(self));
    }
    count = PyTuple_GET_SIZE(args);
    if (self->op == NULL) {
        return called(self->function, &PyTuple_GET_ITEM(args, 0), count, kwargs, NULL, &self->memories);
    }
    if (count == PyTuple_GET_SIZE(SLOT(self->op, op_inputs))) {
        if (kwargs == NULL) {
            made = applied(self->op, &PyTuple_GET_ITEM(args, 0), count, no_attrs, self->only_on_host, NULL);
        }
        else if (PyDict_GET_SIZE(kwargs) == 1 && !self->only_on_host && (out = PyDict_GetItemWithError(kwargs, out_name)) != NULL && connected) {
            made = written_into(self->op, &PyTuple_GET_ITEM(args, 0), count, out) > 0 ? Py_NewRef(out) : NULL;
        }
        if (made != NULL || PyErr_Occurred()) {
            return made;
        }
    }
    return PyObject_Call(self->function, args, kwargs);
}

static int
function_init(Function *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", NULL};
    PyObject *function;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Function", names, &function)) {
        return -1;
    }
    Py_XSETREF(self->function, Py_NewRef(function));
    return 0;
}

static PyObject *
function_short(Function *self, PyObject *args)
{
    PyObject *op;
    int only_on_host = 0;
    if (!PyArg_ParseTuple(args, "O|p:_short", &op, &only_on_host) || !is_operator(op)) {
        return NULL;
    }
    Py_XSETREF(self->op, Py_NewRef(op));
    self->only_on_host = only_on_host;
    Py_RETURN_NONE;
}

static int
function_traverse(Function *self, visitproc visit, void *arg)
{
    Py_VISIT(self->function);
    Py_VISIT(self->op);
    return visit_memories(&self->memories, visit, arg);
}

static int
function_clear(Function *self)
{
    Py_CLEAR(self->function);
    Py_CLEAR(self->op);
    forget_all(&self->memories);
    return 0;
}

static void
function_dealloc(Function *self)
{
    PyObject_GC_UnTrack(self);
    function_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef function_methods[] = {
    {"_short", (PyCFunction)function_short, METH_VARARGS, "Calls with nothing but operands apply an operator, and do no more than that."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject function_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "npcompat._internal._native.Function",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A function of Python's, of which some calls take the short way.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)function_init,
    .tp_call = (ternaryfunc)function_call,
    .tp_methods = function_methods,
    .tp_traverse = (traverseproc)function_traverse,
    .tp_clear = (inquiry)function_clear,
    .tp_dealloc = (destructor)function_dealloc,
};

/* --- methods ------------------------------------------------------------------------------------------------------- */

enum kind { UNARY, BINARY, REFLECTED, IN_PLACE, GET, SET, CALL, CONVERT, COPY };

/* A special method of arrays: `whole` is what it does, as a function of Python's. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *whole, *op, *infix, *exponents;
    enum kind kind;
    int only_on_host, elides;
    Memories memories;
} Method;

static PyObject * /* new */
by_operator(Method *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *made = self->elides ? elided(self->op, args, count) : NOT_SHORT;
    return made != NULL || PyErr_Occurred() ? made : applied(self->op, args, count, no_attrs, self->only_on_host, self->infix);
}

/* `x ** number` where another operator does that, for the dtypes from a number on; NOT_SHORT for other exponents, and what is elsewhere than
   on the host. */
static PyObject * /* new */
by_exponent(Method *self, PyObject *const *args)
{
    PyObject *number, *op, *made, *array;
    int least;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->exponents); i++) {
        int same;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(self->exponents, i), "OOi", &number, &op, &least)) {
            return NULL;
        }
        if (Py_TYPE(number) != Py_TYPE(args[1]) || (same = PyObject_RichCompareBool(number, args[1], Py_EQ)) == 0) {
            continue;
        }
        if (same < 0 || !IS(args[0], array_) || (array = live(args[0])) == NULL) {
            return NULL;
        }
        same = is_common(PyArray_DESCR((PyArrayObject *)array)) && TYPE_NUMBER(array) >= least;
        Py_DECREF(array);
        if (!same) {
            return NOT_SHORT;
        }
        made = elided(op, args, 1);
        return made != NULL || PyErr_Occurred() ? made : applied(op, args, 1, no_attrs, 0, NULL);
    }
    return NOT_SHORT;
}

static PyObject *
method_call(Method *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    PyObject *made = NOT_SHORT, *swapped[2], *array;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int done = 0;
    if (self->kind == CALL) {
        return called(self->whole, args, flags, NULL, keywords, &self->memories);
    }
    if (connected && keywords == NULL && count > 0 && IS_OURS(args[0])) {
        switch (self->kind) {
        case UNARY:
            made = count == 1 ? by_operator(self, args, 1) : NOT_SHORT;
            break;
        case BINARY:
            made = count == 2 && self->exponents != NULL ? by_exponent(self, args) : NOT_SHORT;
            if (made == NULL && !PyErr_Occurred() && count == 2) {
                made = by_operator(self, args, 2);
            }
            break;
        case REFLECTED:
            if (count == 2) {
                swapped[0] = args[1];
                swapped[1] = args[0];
                made = by_operator(self, swapped, 2);
            }
            break;
        case IN_PLACE:
            done = count == 2 ? changed_in_place(self->op, args[0], args[1]) : 0;
            made = done > 0 ? Py_NewRef(args[0]) : NULL;
            break;
        case GET:
            made = count == 2 ? part_of(args[0], args[1]) : NOT_SHORT;
            break;
        case SET:
            done = count == 3 ? written(args[0], args[1], args[2]) : 0;
            made = done > 0 ? Py_NewRef(Py_None) : NULL;
            break;
        case CONVERT: /* `float(x)`: by NumPy's array */
            if (count == 1 && is_plain() && (array = live(args[0])) != NULL) {
                made = PyObject_CallOneArg(self->infix, array);
                Py_DECREF(array);
            }
            break;
        case COPY:
            if (count == 1 && IS(args[0], array_) && is_plain() && (array = live(args[0])) != NULL) {
                if (is_common(PyArray_DESCR((PyArrayObject *)array)) && PyArray_NBYTES((PyArrayObject *)array) < WORTH_IT) {
                    made = PyArray_NewCopy((PyArrayObject *)array, NPY_CORDER);
                    made = made == NULL ? NULL : wrapped(array_, made);
                }
                Py_DECREF(array);
            }
            break;
        case CALL:
            break;
        }
        if (made != NULL || PyErr_Occurred()) {
            return made;
        }
    }
    return PyObject_Vectorcall(self->whole, args, flags, keywords);
}

static PyObject *
method_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"kind", "whole", "op", "infix", "only_on_host", "elides", "exponents", NULL};
    static const char *const kinds[] = {"unary", "binary", "reflected", "in place", "get", "set", "call", "convert", "copy"};
    const char *kind;
    PyObject *whole, *op = Py_None, *infix = NULL, *exponents = NULL;
    int only_on_host = 0, elides = 0, chosen = 0;
    Method *self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|OOppO!:Method", names, &kind, &whole, &op, &infix, &only_on_host, &elides, &PyTuple_Type,
                                     &exponents)) {
        return NULL;
    }
    while (chosen <= COPY && strcmp(kind, kinds[chosen]) != 0) {
        chosen++;
    }
    if (chosen > COPY) {
        return PyErr_Format(PyExc_ValueError, "a method of kind '%s'", kind);
    }
    if (chosen < GET && !is_operator(op)) {
        return NULL;
    }
    if ((self = (Method *)type->tp_alloc(type, 0)) != NULL) {
        self->vectorcall = (vectorcallfunc)method_call;
        self->whole = Py_NewRef(whole);
        self->op = Py_NewRef(op);
        self->infix = infix == Py_None ? NULL : Py_XNewRef(infix);
        self->exponents = Py_XNewRef(exponents);
        self->kind = (enum kind)chosen;
        self->only_on_host = only_on_host;
        self->elides = elides;
    }
    return (PyObject *)self;
}

static PyObject *
method_get(PyObject *self, PyObject *instance, PyObject *owner)
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *
method_getattr(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        found = PyObject_GetAttr(((Method *)self)->whole, name);
    }
    return found;
}

static PyObject *
method_doc(Method *self, void *closure)
{
    return PyObject_GetAttrString(self->whole, "__doc__");
}

static PyObject *
method_repr(Method *self)
{
    return PyObject_Repr(self->whole);
}

static int
method_traverse(Method *self, visitproc visit, void *arg)
{
    Py_VISIT(self->whole);
    Py_VISIT(self->op);
    Py_VISIT(self->infix);
    Py_VISIT(self->exponents);
    return visit_memories(&self->memories, visit, arg);
}

static int
method_clear(Method *self)
{
    Py_CLEAR(self->whole);
    Py_CLEAR(self->op);
    Py_CLEAR(self->infix);
    Py_CLEAR(self->exponents);
    forget_all(&self->memories);
    return 0;
}

static void
method_dealloc(Method *self)
{
    PyObject_GC_UnTrack(self);
    method_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef method_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Method, whole), READONLY, "What the method does."},
    {NULL},
};

static PyGetSetDef method_attributes[] = {
    {"__doc__", (getter)method_doc, NULL, NULL, NULL},
    {NULL},
};

static PyTypeObject method_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "npcompat._internal._native.Method",
    .tp_basicsize = sizeof(Method),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(Method, vectorcall),
    .tp_new = method_new,
    .tp_call = PyVectorcall_Call,
    .tp_descr_get = method_get,
    .tp_getattro = method_getattr,
    .tp_repr = (reprfunc)method_repr,
    .tp_members = method_members,
    .tp_getset = method_attributes,
    .tp_traverse = (traverseproc)method_traverse,
    .tp_clear = (inquiry)method_clear,
    .tp_dealloc = (destructor)method_dealloc,
};

/* --- the module ------------------------------------------------------------------------------------------------------ */

static PyObject *
apply(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *operands, *made;
    if (count < 2 || count > 3) {
        return PyErr_Format(PyExc_TypeError, "apply(op, args, attrs=()) takes 2 or 3 arguments, %zd were given", count);
    }
    if (connected && IS(args[0], op_) && (count == 2 || PyTuple_CheckExact(args[2]))) {
        if ((operands = PySequence_Fast(args[1], "operands are given as a tuple or list")) == NULL) {
            return NULL;
        }
        made = applied(args[0], PySequence_Fast_ITEMS(operands), PySequence_Fast_GET_SIZE(operands), count == 3 ? args[2] : no_attrs, 0, NULL);
        Py_DECREF(operands);
        if (made != NULL || PyErr_Occurred()) {
            return made;
        }
    }
    if (whole_ == NULL) {
        return PyErr_Format(PyExc_RuntimeError, "an operator is applied before the dispatcher is there");
    }
    return PyObject_Vectorcall(whole_, args, count, NULL);
}

/* `apply`, by which a function of Python's says that calls alike do the same. */
static PyObject *
remembered(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *made = apply(module, args, count);
    if (made != NULL && calling != NULL && count == 3 && PyTuple_CheckExact(args[1]) && PyTuple_CheckExact(args[2])) {
        tell(args[0], args[1], args[2], made);
    }
    return made;
}

/* Say of a view, as a function returns it, that all arrays of the shape are seen through its lens. */
static PyObject *
seen(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *told;
    if (count != 3) {
        return PyErr_Format(PyExc_TypeError, "seen() takes an array, a lens and a view");
    }
    if (calling != NULL && IS(args[0], array_) && IS(args[2], array_) && !is_readonly(args[2])) {
        if ((told = PyTuple_Pack(1, args[0])) == NULL) {
            return NULL;
        }
        tell(args[1], told, Py_None, args[2]);
        Py_DECREF(told);
    }
    return Py_NewRef(args[2]);
}

/* Where a slot of a class lies in its instances. */
static Py_ssize_t
offset_of(PyObject *class, const char *name)
{
    PyObject *descriptor = PyObject_GetAttrString(class, name);
    Py_ssize_t offset = -1;
    if (descriptor != NULL && Py_TYPE(descriptor) == &PyMemberDescr_Type) {
        offset = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    }
    else if (descriptor != NULL) {
        PyErr_Format(PyExc_TypeError, "%R has no slot %s", class, name);
    }
    Py_XDECREF(descriptor);
    return offset;
}

/* Tell the module what it has to know; by and by, as the Python modules are imported. */
static PyObject *
connect(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *name, *given, *fields;
    Py_ssize_t at = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &given)) {
        int i = 0;
        while (connections[i].name != NULL && PyUnicode_CompareWithASCIIString(name, connections[i].name) != 0) {
            i++;
        }
        if (connections[i].name != NULL) {
            Py_XSETREF(*connections[i].place, Py_NewRef(given));
        }
        else if (PyUnicode_CompareWithASCIIString(name, "host_programs") == 0) {
            host_programs = PyLong_AsSsize_t(given);
        }
        else if (PyUnicode_CompareWithASCIIString(name, "only_programs") == 0) {
            only_programs = PyObject_IsTrue(given);
        }
        else if (PyUnicode_CompareWithASCIIString(name, "binary_op") == 0) {
            binary_op = (int)PyLong_AsLong(given);
        }
        else if (PyUnicode_CompareWithASCIIString(name, "mode") == 0) {
            if ((fields = PyObject_GetAttrString(given, "_fields")) == NULL) {
                return NULL;
            }
            plain_at = PySequence_Index(fields, plain_name);
            records_at = PySequence_Index(fields, records_name);
            numpy_dtypes_at = PySequence_Index(fields, numpy_dtypes_name);
            Py_DECREF(fields);
        }
        else {
            return PyErr_Format(PyExc_TypeError, "connect() knows nothing of %R", name);
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    for (int i = 0; connections[i].name != NULL; i++) {
        if (*connections[i].place == NULL) {
            Py_RETURN_NONE;
        }
    }
    for (int i = 0; slots[i].type != NULL; i++) {
        if ((*slots[i].offset = offset_of(*slots[i].type, slots[i].name)) < 0) {
            return NULL;
        }
    }
    if (!PyList_CheckExact(default_mode_) || !PyDict_CheckExact(lowering_) || plain_at == 0) {
        return PyErr_Format(PyExc_TypeError, "connect(): default_mode is a list, lowering a dict, and mode a NamedTuple");
    }
    connected = 1;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"apply", (PyCFunction)(void (*)(void))apply, METH_FASTCALL, "Apply an operator to array-likes."},
    {"seen", (PyCFunction)(void (*)(void))seen, METH_FASTCALL, "Say of a view that arrays alike are seen through its lens."},
    {"remembered", (PyCFunction)(void (*)(void))remembered, METH_FASTCALL, "Apply an operator, as calls alike will."},
    {"connect", (PyCFunction)(void (*)(void))connect, METH_VARARGS | METH_KEYWORDS, "Tell the module what it has to know."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "npcompat._internal._native",
    .m_doc = "The short way of frequent calls.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    PyObject *module;
    import_array();
    zero = PyLong_FromLong(0);
    one = PyLong_FromLong(1);
    no_attrs = PyTuple_New(0);
    out_keyword = Py_BuildValue("(s)", "out");
    in_tuple = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    in_list = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    out_name = PyUnicode_InternFromString("out");
    dtype_name = PyUnicode_InternFromString("dtype");
    aval_name = PyUnicode_InternFromString("aval");
    shape_name = PyUnicode_InternFromString("shape");
    payload_name = PyUnicode_InternFromString("payload");
    on_host_name = PyUnicode_InternFromString("on_host");
    plain_name = PyUnicode_InternFromString("plain");
    records_name = PyUnicode_InternFromString("records");
    numpy_dtypes_name = PyUnicode_InternFromString("numpy_dtypes");
    if (PyErr_Occurred() || (module = PyModule_Create(&definition)) == NULL) {
        return NULL;
    }
    if (PyModule_AddType(module, &function_type) < 0 || PyModule_AddType(module, &method_type) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
