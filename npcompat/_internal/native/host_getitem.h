/* `a[key]` on the host: elements, views, and copies by positions and masks.

   The key is borrowed from the caller; the NumPy array of the handle is owned while NumPy reads
   it.  The slow path is `get` of indexing/host.py. */

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

/* True for a basic key of ints, slices, newaxis and an ellipsis, which can't change later. */
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

/* An array or scalar of npcompat's in a key, converted for NumPy to positions, a mask, or an int;
   FALL_BACK for others. */
static PyObject * /* new */
numpys_part(PyObject *key)
{
    PyObject *array, *number, *found;
    int kind;
    if (!IS_OURS(key) || (array = current_array(key)) == NULL) {
        return NULL;
    }
    kind = TYPE_NUMBER(array);
    if (!is_common(PyArray_DESCR((PyArrayObject *)array)) || kind > NPY_ULONGLONG || (IS_SCALAR(key) && kind == NPY_BOOL)) {
        Py_DECREF(array);
        return FALL_BACK;
    }
    if (!IS_SCALAR(key)) {
        return array;
    }
    number = as_numpys_scalar(array);
    found = number == NULL ? NULL : PyNumber_Index(number);
    Py_XDECREF(number);
    Py_DECREF(array);
    return found;
}

/* A key converted for NumPy, and `basic` if it is; FALL_BACK for items that are neither basic nor
   arrays of npcompat's. */
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

/* The address of the element that a key of ints names; NULL without an error for other keys. */
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
    return new_scalar(made);
}

/* The rare attributes (`Extra`) of a handle, made at first use. */
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

/* A view of a handle through a lens; FALL_BACK if the chain of views would be too deep. */
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
    view = new_instance(view_);
    made = new_instance(array_);
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
    PyObject *shape = PyArray_IntTupleFromIntp(PyArray_NDIM(array), PyArray_SHAPE(array)), *lens = new_instance(key_lens_), *made;
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

/* `handle[key]` on the host: an element, a view, or a copy by positions or masks. */
static PyObject * /* new */
part_of(PyObject *handle, PyObject *given)
{
    PyObject *array, *key, *found, *made = FALL_BACK;
    char *place;
    int basic;
    if (!IS_ARRAY(handle) || is_readonly(handle) || !mode_is_default() || (key = numpys_key(given, &basic)) == NULL) {
        return NULL;
    }
    if ((array = current_array(handle)) != NULL && is_common(PyArray_DESCR((PyArrayObject *)array))) {
        if (basic && (place = element_at((PyArrayObject *)array, key)) != NULL) {
            made = scalar_at((PyArrayObject *)array, place);
        }
        else if ((found = PyObject_GetItem(array, key)) != NULL) {
            if (!basic) {
                made = IS_NDARRAY(found) ? new_handle(array_, Py_NewRef(found)) : FALL_BACK;
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
