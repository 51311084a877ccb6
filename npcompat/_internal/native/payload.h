/* Reading: the mode, and payloads of handles.  The slow path is `read` and `current_array` of
   dispatch/handles.py.

   The GIL is held, but calls of NumPy and Python may release it; objects that are used after such a
   call are owned references here. */

/* The mode if operators are only executed, or only recorded (`records`); FALL_BACK for others. */
static PyObject * /* new */
executing_mode(int *records)
{
    PyObject *mode;
    if (!connected) {
        return FALL_BACK;
    }
    if (PyContextVar_Get(mode_variable_, PyList_GET_ITEM(default_mode_, 0), &mode) < 0) {
        return NULL;
    }
    *records = PyTuple_GET_ITEM(mode, only_recording_at) == Py_True;
    if (!*records && PyTuple_GET_ITEM(mode, is_default_at) != Py_True) {
        Py_DECREF(mode);
        return FALL_BACK;
    }
    return mode;
}

static PyObject * /* new */
default_mode_or_null(void)
{
    int records = 0;
    PyObject *mode = executing_mode(&records);
    if (mode != NULL && records) {
        Py_CLEAR(mode);
    }
    return mode;
}

static int
mode_is_default(void)
{
    PyObject *mode = default_mode_or_null();
    Py_XDECREF(mode);
    return mode != NULL;
}

#define IS(object, class) ((PyObject *)Py_TYPE(object) == class)

/* True for scalars on the host whose class derives from NumPy's. */
static inline int
is_host_scalar(PyObject *object)
{
    static const int frequent_first[] = {NPY_FLOAT, NPY_DOUBLE, NPY_LONG, NPY_LONGLONG, NPY_INT, NPY_CFLOAT, NPY_CDOUBLE, NPY_HALF,
                                         NPY_UBYTE, NPY_BYTE, NPY_SHORT, NPY_USHORT, NPY_UINT, NPY_ULONG, NPY_ULONGLONG};
    PyTypeObject *class = Py_TYPE(object);
    if (!PyType_HasFeature(class, Py_TPFLAGS_HEAPTYPE)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(frequent_first) / sizeof(int); i++) {
        if (scalar_classes[frequent_first[i]] == class) {
            return 1;
        }
    }
    return 0;
}

#define IS_SCALAR(object) (IS(object, scalar_) || is_host_scalar(object))

/* True for npcompat's own arrays and scalars with filled slots; `object.__new__(ndarray)` leaves
   them NULL. */
static inline int
is_ours(PyObject *object)
{
    PyObject *view;
    if (!IS(object, array_) && !IS_SCALAR(object)) {
        return 0;
    }
    view = SLOT(object, array__view);
    return view != NULL && SLOT(object, array__extra) != NULL && (view != Py_None || SLOT(object, array__value) != NULL);
}

#define IS_OURS(object) is_ours((PyObject *)(object))
#define IS_ARRAY(object) (IS(object, array_) && is_ours((PyObject *)(object)))
#define IS_NDARRAY(object) (Py_TYPE(object) == &PyArray_Type)
#define TYPE_NUMBER(array) (PyArray_DESCR((PyArrayObject *)(array))->type_num)

static PyObject * /* new */
payload_of(PyObject *value)
{
    if (IS(value, value_)) {
        return Py_NewRef(SLOT(value, value_payload));
    }
    return PyObject_GetAttr(value, payload_name); /* borrowed, retained by a program, or lazy */
}

/* The payload, to be used at once and not kept: a borrowed buffer is not copied. */
static PyObject * /* new */
payload_now(PyObject *value)
{
    if (IS(value, value_)) {
        return Py_NewRef(SLOT(value, value_payload));
    }
    if (IS(value, borrowed_value_) && SLOT(value, borrowed_value_buffer) != NULL) {
        return Py_NewRef(SLOT(value, borrowed_value_buffer));
    }
    return PyObject_GetAttr(value, payload_name);
}

/* The live NumPy array of a handle on the host; FALL_BACK for other payloads, and for chains of
   more than DEEPEST_CHAIN views. */
static PyObject * /* new */
current_array(PyObject *handle)
{
    PyObject *lenses[DEEPEST_CHAIN], *view, *found;
    int depth = 0;
    while ((view = SLOT(handle, array__view)) != Py_None) {
        if (depth == DEEPEST_CHAIN) {
            return FALL_BACK;
        }
        lenses[depth++] = SLOT(view, view_lens);
        handle = SLOT(view, view_parent);
    }
    if (SLOT(handle, array__value) == NULL) {
        return FALL_BACK;
    }
    found = payload_now(SLOT(handle, array__value));
    for (int i = 0; i < depth; i++) {
        Py_INCREF(lenses[i]); /* a lens may be replaced while NumPy or Python runs */
    }
    while (depth > 0) {
        PyObject *lens = lenses[--depth], *above = found;
        if (above != NULL && IS_NDARRAY(above)) {
            found = IS(lens, key_lens_) ? PyObject_GetItem(above, SLOT(lens, key_lens_key)) : PyObject_CallMethodOneArg(lens, on_host_name, above);
            Py_DECREF(above);
        }
        Py_DECREF(lens);
    }
    if (found != NULL && !IS_NDARRAY(found)) {
        Py_DECREF(found);
        return FALL_BACK;
    }
    return found;
}

static PyObject *read_on_xla(PyObject *handle);

/* The payload of an array or scalar on any backend; computes that of a view. */
static PyObject * /* new */
payload_read(PyObject *handle)
{
    PyObject *found, *value;
    if (SLOT(handle, array__view) == Py_None) {
        return payload_of(SLOT(handle, array__value));
    }
    if ((found = current_array(handle)) != NULL || PyErr_Occurred() || (found = read_on_xla(handle)) != NULL || PyErr_Occurred()) {
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

/* True for NumPy's own dtypes that devices have, too: numbers of up to 64 bits in native byte
   order. */
static int
is_common(PyArray_Descr *dtype)
{
    int number = dtype->type_num;
    return ((number <= NPY_CDOUBLE && number != NPY_LONGDOUBLE) || number == NPY_HALF) && PyDataType_ISNOTSWAPPED(dtype);
}

static PyObject * /* new */
attribute_of_aval(PyObject *payload, PyObject *name)
{
    PyObject *aval = PyObject_GetAttr(payload, aval_name), *found = aval == NULL ? NULL : PyObject_GetAttr(aval, name);
    Py_XDECREF(aval);
    return found;
}

/* The shape of a payload on XLA. */
static PyObject * /* new */
shape_of(PyObject *payload)
{
    return attribute_of_aval(payload, shape_name);
}

static PyObject * /* new */
dtype_of(PyObject *payload)
{
    return attribute_of_aval(payload, dtype_name);
}

enum { BESIDE_OPERANDS, ON_HOST, ON_XLA }; /* where new arrays are placed */

/* The placement of new arrays in a mode; -1 for other devices than the default one, and for errors.
   */
static int
place_of(PyObject *mode)
{
    static PyObject *known_mode, *known_device;
    static int known;
    PyObject *chosen, *host;
    if (PyTuple_GET_ITEM(mode, device_at) != Py_None || (chosen = PyObject_GetAttr(config_, default_device_name)) == NULL) {
        return -1;
    }
    if (mode != known_mode || chosen != known_device) {
        if ((host = PyObject_CallOneArg(on_host_, mode)) == NULL) {
            Py_DECREF(chosen);
            return -1;
        }
        known = host == Py_True ? ON_HOST : host == Py_False ? ON_XLA : -1;
        Py_DECREF(host);
        Py_XSETREF(known_mode, Py_NewRef(mode));
        Py_XSETREF(known_device, Py_NewRef(chosen));
    }
    Py_DECREF(chosen);
    return known;
}
