/* Temporaries: a part of `_native.c`. */

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
