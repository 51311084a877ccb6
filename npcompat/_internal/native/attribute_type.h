/* Attribute: descriptor that replaces the properties `shape` and `dtype` of arrays.

   It answers for arrays that are no views, on the host and on XLA, whose payloads it holds by owned
   references.  The slow path is the Python property that it wraps (`answer_attributes` of
   native/fast_path.py). */

typedef struct {
    PyObject_HEAD
    PyObject *property;
    int is_dtype; /* true for `dtype`, false for `shape` */
} Attribute;

static PyObject * /* new */
shape_of_array(PyObject *array)
{
    int axes = PyArray_NDIM((PyArrayObject *)array);
    PyObject *shape = PyTuple_New(axes);
    for (int i = 0; shape != NULL && i < axes; i++) {
        PyObject *length = PyLong_FromSsize_t(PyArray_DIM((PyArrayObject *)array, i));
        if (length == NULL) {
            Py_CLEAR(shape);
            break;
        }
        PyTuple_SET_ITEM(shape, i, length);
    }
    return shape;
}

static PyObject *
attribute_get(PyObject *self, PyObject *handle, PyObject *Py_UNUSED(owner))
{
    PyObject *payload, *found = FALL_BACK;
    int is_dtype = ((Attribute *)self)->is_dtype;
    if (handle == NULL || handle == Py_None) {
        return Py_NewRef(((Attribute *)self)->property);
    }
    if (connected && IS_OURS(handle) && SLOT(handle, array__view) == Py_None) {
        payload = payload_now(SLOT(handle, array__value));
        if (payload == NULL) {
            return NULL;
        }
        if (IS_NDARRAY(payload)) {
            found = is_dtype ? Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)payload)) : shape_of_array(payload);
        }
        else if (IS(payload, xla_array_)) {
            found = is_dtype ? dtype_of(payload) : shape_of(payload);
        }
        Py_DECREF(payload);
    }
    if (found != NULL || PyErr_Occurred()) {
        return found;
    }
    return Py_TYPE(((Attribute *)self)->property)->tp_descr_get(((Attribute *)self)->property, handle, (PyObject *)Py_TYPE(handle));
}

static int
attribute_set(PyObject *self, PyObject *handle, PyObject *value)
{
    return Py_TYPE(((Attribute *)self)->property)->tp_descr_set(((Attribute *)self)->property, handle, value);
}

static PyObject *
attribute_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"property", "is_dtype", NULL};
    PyObject *property;
    int is_dtype;
    Attribute *self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!p:Attribute", names, &PyProperty_Type, &property, &is_dtype)) {
        return NULL;
    }
    if ((self = (Attribute *)type->tp_alloc(type, 0)) != NULL) {
        self->property = Py_NewRef(property);
        self->is_dtype = is_dtype;
    }
    return (PyObject *)self;
}

static int
attribute_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Attribute *)self)->property);
    return 0;
}

static int
attribute_clear(PyObject *self)
{
    Py_CLEAR(((Attribute *)self)->property);
    return 0;
}

static void
attribute_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    attribute_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef attribute_members[] = {
    {"__wrapped__", Py_T_OBJECT_EX, offsetof(Attribute, property), Py_READONLY, "The property that it replaces."},
    {NULL},
};

static PyTypeObject attribute_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "npcompat._internal.native._native.Attribute",
    .tp_doc = "Descriptor of arrays that wraps a property.",
    .tp_basicsize = sizeof(Attribute),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = attribute_new,
    .tp_descr_get = attribute_get,
    .tp_descr_set = attribute_set,
    .tp_members = attribute_members,
    .tp_traverse = attribute_traverse,
    .tp_clear = attribute_clear,
    .tp_dealloc = attribute_dealloc,
};
