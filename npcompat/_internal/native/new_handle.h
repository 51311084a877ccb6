/* New values and handles, allocated without a call of Python.

   Functions steal the payload that they wrap, also if they fail; the GIL is held.  The slow path is
   `wrap_result` of dispatch/handles.py. */

static PyObject * /* new */
new_instance(PyObject *type)
{
    return ((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
}

static PyObject * /* new; steals the payload */
new_value(PyObject *payload)
{
    PyObject *value = new_instance(value_);
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
new_handle(PyObject *type, PyObject *payload)
{
    PyObject *handle, *value = new_value(payload);
    if (value == NULL) {
        return NULL;
    }
    if ((handle = new_instance(type)) == NULL) {
        Py_DECREF(value);
        return NULL;
    }
    SLOT(handle, array__value) = value;
    SLOT(handle, array__view) = Py_NewRef(Py_None);
    SLOT(handle, array__extra) = Py_NewRef(Py_None);
    return handle;
}

static PyObject * /* new */
as_numpys_scalar(PyObject *array)
{
    return PyArray_ToScalar(PyArray_DATA((PyArrayObject *)array), (PyArrayObject *)array);
}

/* A new scalar: on the host of a class that derives from NumPy's, or NumPy's own for a bool. */
static PyObject * /* new; steals the payload */
new_scalar(PyObject *payload)
{
    PyObject *scalar;
    int number;
    if (IS_NDARRAY(payload) && TYPE_NUMBER(payload) == NPY_BOOL) {
        scalar = as_numpys_scalar(payload);
        Py_DECREF(payload);
        return scalar;
    }
    number = IS_NDARRAY(payload) && PyArray_ISNOTSWAPPED((PyArrayObject *)payload) ? TYPE_NUMBER(payload) : MOST_SCALARS;
    if (number >= MOST_SCALARS || scalar_classes[number] == NULL) {
        return new_handle(scalar_, payload);
    }
    if ((scalar = new_handle((PyObject *)scalar_classes[number], payload)) != NULL) {
        memcpy((char *)scalar + sizeof(PyObject), PyArray_DATA((PyArrayObject *)payload), PyArray_ITEMSIZE((PyArrayObject *)payload));
    }
    return scalar;
}

/* A handle for a result of an operator: a scalar where NumPy returns one; objects, strings and
   dates unchanged.  What is recorded is never of a class that derives from NumPy's: NumPy would
   take it for a number. */
static PyObject * /* new; steals the payload */
wrapped_result(PyObject *op, PyObject *payload, int records)
{
    int has_axes;
    PyObject *found;
    if (SLOT(op, op_scalars) != Py_True) {
        return new_handle(array_, payload);
    }
    if (IS_NDARRAY(payload)) {
        has_axes = PyArray_NDIM((PyArrayObject *)payload) > 0;
    }
    else {
        PyObject *shape = shape_of(payload);
        if (shape == NULL) {
            Py_DECREF(payload);
            return NULL;
        }
        has_axes = PyObject_Size(shape) > 0;
        Py_DECREF(shape);
    }
    if (has_axes) {
        return new_handle(array_, payload);
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
    return records ? new_handle(scalar_, payload) : new_scalar(payload);
}
