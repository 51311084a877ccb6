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
    DEEPEST_VIEW = 100, /* as in indexing.py */
    MOST_OPERANDS = 8,
    EXTENDED = 256 /* numbers of dtypes from here on are not NumPy's own */
};

/* Classes, a ContextVar and the list with its default, functions, the list of contexts that compilations entered. */
#define CONNECTIONS(DO)                                                                                                     \
    DO(array) DO(scalar) DO(value) DO(view) DO(extra) DO(key_lens) DO(op) DO(xla_array) DO(mode_variable) DO(default_mode)  \
    DO(whole) DO(read) DO(failed) DO(on_devices) DO(xla_scalar) DO(lowering) DO(lowered) DO(keep) DO(clock) DO(call_errors)

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
    DO(key_lens, key) DO(key_lens, shape) DO(extra, leaf) DO(extra, readonly) DO(extra, version)                            \
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
static Py_ssize_t plain_at, numpy_dtypes_at; /* fields of modes */
static Py_ssize_t host_programs;             /* where the programs of the host begin among those of an operator */
static int binary_op;                        /* the number of the instruction */
static int only_programs;                    /* a policy of precision holds, of which NumPy's own functions know nothing */
static PyObject *zero, *one, *no_attrs, *out_keyword, *aval_name, *shape_name, *payload_name, *on_host_name, *plain_name, *numpy_dtypes_name;

#define NOT_SHORT NULL /* and no error is set */

/* --- reading ------------------------------------------------------------------------------------------------------- */

static PyObject * /* new */
plain_mode(void)
{
    PyObject *mode;
    if (!connected) {
        return NOT_SHORT;
    }
    if (PyContextVar_Get(mode_variable_, PyList_GET_ITEM(default_mode_, 0), &mode) < 0) {
        return NULL;
    }
    if (PyTuple_GET_ITEM(mode, plain_at) != Py_True) {
        Py_DECREF(mode);
        return NOT_SHORT;
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
wrapped(PyObject *type, PyObject *payload)
{
    PyObject *handle, *value = allocated(value_);
    if (value == NULL) {
        Py_DECREF(payload);
        return NULL;
    }
    SLOT(value, value_payload) = payload;
    SLOT(value, value_node) = Py_NewRef(Py_None);
    SLOT(value, value_index) = Py_NewRef(zero);
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
    operands->count = operands->on_xla = operands->on_host = operands->weak = operands->any_number = 0;
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

/* What NumPy's own function makes of operands; NOT_SHORT where its dtype is not that of our policy. */
static PyObject * /* new */
run_numpys(PyObject *op, Operands *operands, int numpy_dtypes)
{
    int wide = 0, inexact = 0, weak_inexact = 0, number;
    PyObject *made, *as_array;
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
    if ((made = PyObject_Vectorcall(SLOT(op, op_ufunc), operands->payloads, operands->count, NULL)) == NULL) {
        return NULL;
    }
    if (!IS_NDARRAY(made)) {
        as_array = PyArray_IsScalar(made, Generic) ? PyArray_FromScalar(made, NULL) : PyArray_FROM_O(made);
        Py_DECREF(made);
        if ((made = as_array) == NULL) {
            return NULL;
        }
    }
    number = TYPE_NUMBER(made);
    if (number >= EXTENDED || ((number == NPY_DOUBLE || number == NPY_CDOUBLE) && !numpy_dtypes && !wide)) {
        Py_DECREF(made);
        return NOT_SHORT;
    }
    return made;
}

/* Apply an operator to operands; NOT_SHORT if the whole way has to. */
static PyObject * /* new */
applied(PyObject *op, PyObject *const *args, Py_ssize_t count, PyObject *attrs, int only_on_host)
{
    Operands operands;
    PyObject *made = NOT_SHORT, *result, *mode;
    int numpy_dtypes;
    if (count == 0 || (mode = plain_mode()) == NULL) {
        return NULL;
    }
    numpy_dtypes = PyTuple_GET_ITEM(mode, numpy_dtypes_at) != zero;
    Py_DECREF(mode);
    if (!gather(op, args, count, &operands)) {
        release(&operands);
        return NULL;
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
            made = run_numpys(op, &operands, numpy_dtypes);
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
    number = PyArray_ToScalar(PyArray_DATA((PyArrayObject *)array), (PyArrayObject *)array);
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

static PyObject * /* new */
view_of(PyObject *handle, PyArrayObject *array, PyObject *key)
{
    PyObject *above = SLOT(handle, array__view), *root = above == Py_None ? handle : SLOT(above, view_root);
    PyObject *lens = NULL, *view = NULL, *made = NULL, *shape = NULL, *depth = NULL;
    long deep = above == Py_None ? 1 : PyLong_AsLong(SLOT(above, view_depth)) + 1;
    if (deep > DEEPEST_VIEW || rare_of(root) == NULL) {
        return NULL;
    }
    depth = PyLong_FromLong(deep);
    shape = PyArray_IntTupleFromIntp(PyArray_NDIM(array), PyArray_SHAPE(array));
    lens = allocated(key_lens_);
    view = allocated(view_);
    made = allocated(array_);
    if (depth == NULL || shape == NULL || lens == NULL || view == NULL || made == NULL) {
        Py_XDECREF(depth);
        Py_XDECREF(shape);
        Py_XDECREF(lens);
        Py_XDECREF(view);
        Py_XDECREF(made);
        return NULL;
    }
    SLOT(lens, key_lens_key) = Py_NewRef(key);
    SLOT(lens, key_lens_shape) = shape;
    SLOT(view, view_parent) = Py_NewRef(handle);
    SLOT(view, view_root) = Py_NewRef(root);
    SLOT(view, view_lens) = lens;
    SLOT(view, view_depth) = depth;
    SLOT(view, view_version) = Py_NewRef(zero);
    SLOT(view, view_cached) = Py_NewRef(Py_None);
    SLOT(made, array__view) = view;
    SLOT(made, array__extra) = Py_NewRef(Py_None);
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
    found = PyArray_ToScalar(PyArray_DATA((PyArrayObject *)array), (PyArrayObject *)array); /* which NumPy checks, where it casts arrays */
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

/* --- temporaries --------------------------------------------------------------------------------------------------- */

enum { WORTH_IT = 1 << 16 }; /* bytes of a temporary: asking costs about a microsecond */

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

/* Whether nobody holds an array but the interpreter, and its buffer can take the sum with another operand. */
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
    if (PyFloat_CheckExact(other) || (PyLong_CheckExact(other) && is_small(other))) {
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

/* `x1 + x2` written into the one that is a temporary, as NumPy does it; NOT_SHORT if neither is. */
static PyObject * /* new */
elided(PyObject *op, PyObject *x1, PyObject *x2)
{
    PyObject *arguments[3], *made, *taken = can_take(x1, x2) ? x1 : can_take(x2, x1) ? x2 : NULL;
    if (taken == NULL || PyErr_Occurred() || !is_plain() || only_programs || !in_expression()) {
        return NULL;
    }
    arguments[0] = IS_OURS(x1) ? live(x1) : Py_NewRef(x1);
    arguments[1] = IS_OURS(x2) ? live(x2) : Py_NewRef(x2);
    if (arguments[0] == NULL || arguments[1] == NULL) {
        Py_XDECREF(arguments[0]);
        Py_XDECREF(arguments[1]);
        return NULL;
    }
    arguments[2] = arguments[taken == x1 ? 0 : 1];
    made = PyObject_Vectorcall(SLOT(op, op_ufunc), arguments, 2, out_keyword);
    Py_DECREF(arguments[0]);
    Py_DECREF(arguments[1]);
    if (made == NULL) {
        return NULL;
    }
    Py_DECREF(made);
    return Py_NewRef(taken);
}

/* --- functions of a module ----------------------------------------------------------------------------------------- */

/* A function of Python's.  If `_short` says that a call with nothing but operands applies an operator and does no more than that, such
   calls take the short way. */
typedef struct {
    PyObject_HEAD
    PyObject *function, *op;
    int only_on_host; /* what the function does besides is done by NumPy's own function on the host */
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
    PyObject *made;
    if (self->function == NULL) {
        return PyErr_Format(PyExc_TypeError, "%R was made without a function", Py_TYPE(self));
    }
    if (self->op != NULL && kwargs == NULL && PyTuple_GET_SIZE(args) == PyTuple_GET_SIZE(SLOT(self->op, op_inputs))) {
        made = applied(self->op, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), no_attrs, self->only_on_host);
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
    return 0;
}

static int
function_clear(Function *self)
{
    Py_CLEAR(self->function);
    Py_CLEAR(self->op);
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

enum kind { UNARY, BINARY, REFLECTED, IN_PLACE, GET, SET };

/* A special method of arrays: `whole` is what it does, as a function of Python's. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *whole, *op;
    enum kind kind;
    int only_on_host, elides;
} Method;

static PyObject *
method_call(Method *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    PyObject *made = NOT_SHORT, *swapped[2];
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int done = 0;
    if (connected && keywords == NULL && count > 0 && IS_OURS(args[0])) {
        switch (self->kind) {
        case UNARY:
            made = count == 1 ? applied(self->op, args, 1, no_attrs, self->only_on_host) : NOT_SHORT;
            break;
        case BINARY:
            made = count == 2 && self->elides ? elided(self->op, args[0], args[1]) : NOT_SHORT;
            if (made == NULL && !PyErr_Occurred() && count == 2) {
                made = applied(self->op, args, 2, no_attrs, self->only_on_host);
            }
            break;
        case REFLECTED:
            if (count == 2) {
                swapped[0] = args[1];
                swapped[1] = args[0];
                made = self->elides ? elided(self->op, swapped[0], swapped[1]) : NOT_SHORT;
            }
            if (made == NULL && !PyErr_Occurred() && count == 2) {
                made = applied(self->op, swapped, 2, no_attrs, self->only_on_host);
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
    static char *names[] = {"kind", "whole", "op", "only_on_host", "elides", NULL};
    static const char *const kinds[] = {"unary", "binary", "reflected", "in place", "get", "set"};
    const char *kind;
    PyObject *whole, *op = Py_None;
    int only_on_host = 0, elides = 0, chosen = 0;
    Method *self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|Opp:Method", names, &kind, &whole, &op, &only_on_host, &elides)) {
        return NULL;
    }
    while (chosen <= SET && strcmp(kind, kinds[chosen]) != 0) {
        chosen++;
    }
    if (chosen > SET) {
        return PyErr_Format(PyExc_ValueError, "a method of kind '%s'", kind);
    }
    if (chosen < GET && !is_operator(op)) {
        return NULL;
    }
    if ((self = (Method *)type->tp_alloc(type, 0)) != NULL) {
        self->vectorcall = (vectorcallfunc)method_call;
        self->whole = Py_NewRef(whole);
        self->op = Py_NewRef(op);
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
    return 0;
}

static int
method_clear(Method *self)
{
    Py_CLEAR(self->whole);
    Py_CLEAR(self->op);
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
        made = applied(args[0], PySequence_Fast_ITEMS(operands), PySequence_Fast_GET_SIZE(operands), count == 3 ? args[2] : no_attrs, 0);
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
    aval_name = PyUnicode_InternFromString("aval");
    shape_name = PyUnicode_InternFromString("shape");
    payload_name = PyUnicode_InternFromString("payload");
    on_host_name = PyUnicode_InternFromString("on_host");
    plain_name = PyUnicode_InternFromString("plain");
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
