/* Shared memory: exports of arrays by the buffer protocol and to NumPy.

   `Buffered` is a base class of arrays with the buffer protocol, which Python classes lack before
   3.12.  It exports the memory of the NumPy array that `export` of dispatch/borrowed_buffers.py
   makes.  The most frequent export, of a whole unshared array on the host, is made here; reference
   counts prove that it is unshared. */

/* Base object of an exported NumPy array; when it is freed, the buffer is released. */
typedef struct {
    PyObject_HEAD
    PyObject *root, *value;
} Export;

/* Release a borrowed buffer: after the last one the array owns it again, as `release_buffer` of
   dispatch/borrowed_buffers.py. */
static PyObject * /* new */
release_buffer(PyObject *root, PyObject *borrowed)
{
    PyObject *value, *version, *rare = SLOT(root, array__extra);
    if (SLOT(borrowed, borrowed_value_users) != one || SLOT(borrowed, borrowed_value_escaped) != Py_False || SLOT(root, array__value) != borrowed ||
        rare == Py_None) {
        return PyObject_CallFunctionObjArgs(release_buffer_, root, borrowed, NULL);
    }
    if ((version = PyIter_Next(clock_)) == NULL || (value = new_value(Py_NewRef(SLOT(borrowed, borrowed_value_buffer)))) == NULL) {
        Py_XDECREF(version);
        return NULL;
    }
    Py_SETREF(SLOT(value, value_node), Py_NewRef(SLOT(borrowed, value_node)));
    Py_SETREF(SLOT(rare, extra_version), version);
    Py_SETREF(SLOT(borrowed, borrowed_value_users), Py_NewRef(zero));
    Py_SETREF(SLOT(root, array__value), value);
    Py_RETURN_NONE;
}

#if PY_VERSION_HEX >= 0x030d0000
#define IS_FINALIZING Py_IsFinalizing
#else
#define IS_FINALIZING _Py_IsFinalizing
#endif

/* Release a borrowed buffer while an error may be set. */
static void
give_back(PyObject *root, PyObject *borrowed)
{
    PyObject *kind, *error, *trace, *done;
    PyErr_Fetch(&kind, &error, &trace);
    done = release_buffer(root, borrowed);
    if (done == NULL) {
        PyErr_WriteUnraisable(release_buffer_); /* not the export, which would be freed once more */
    }
    Py_XDECREF(done);
    PyErr_Restore(kind, error, trace);
}

static void
export_dealloc(PyObject *self)
{
    Export *export = (Export *)self;
    PyObject_GC_UnTrack(self);
    if (!IS_FINALIZING()) { /* then the modules are empty, and nobody reads the array */
        give_back(export->root, export->value);
    }
    Py_DECREF(export->root);
    Py_DECREF(export->value);
    PyObject_GC_Del(self);
}

static int
export_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Export *)self)->root);
    Py_VISIT(((Export *)self)->value);
    return 0;
}

static PyTypeObject export_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "npcompat._internal.native._native.Export",
    .tp_doc = "Base of NumPy's arrays over the memory of an array, which is taken back when the last of them goes.",
    .tp_basicsize = sizeof(Export),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = export_dealloc,
    .tp_traverse = export_traverse,
};

/* A new BorrowedValue over a buffer, with one user. */
static PyObject * /* new */
new_borrowed_value(PyObject *buffer)
{
    PyObject *value = new_instance(borrowed_value_);
    if (value != NULL) {
        SLOT(value, borrowed_value_buffer) = Py_NewRef(buffer);
        SLOT(value, borrowed_value_users) = Py_NewRef(one);
        SLOT(value, borrowed_value_escaped) = Py_NewRef(Py_False);
        SLOT(value, value_node) = Py_NewRef(Py_None);
        SLOT(value, value_index) = Py_NewRef(zero);
    }
    return value;
}

static int
has_extra(PyObject *handle)
{
    PyObject *rare = SLOT(handle, array__extra);
    if (rare == Py_None) {
        if ((rare = PyObject_CallNoArgs(extra_)) == NULL) {
            return 0;
        }
        Py_SETREF(SLOT(handle, array__extra), rare);
    }
    return 1;
}

/* The borrowed value of a whole array, with one user more; FALL_BACK if its buffer may be shared. */
static PyObject * /* new */
borrowed(PyObject *handle)
{
    PyObject *buffer, *users, *value = SLOT(handle, array__value);
    if (SLOT(value, value_node) != Py_None) {
        return FALL_BACK;
    }
    if (IS(value, borrowed_value_)) { /* somebody else looks into the memory, too */
        buffer = SLOT(value, borrowed_value_buffer);
        if (buffer == NULL || !PyArray_ISWRITEABLE((PyArrayObject *)buffer) || !is_common(PyArray_DESCR((PyArrayObject *)buffer)) ||
            (users = PyNumber_Add(SLOT(value, borrowed_value_users), one)) == NULL) {
            return FALL_BACK;
        }
        Py_SETREF(SLOT(value, borrowed_value_users), users);
        return Py_NewRef(value);
    }
    if (!IS(value, value_)) {
        return FALL_BACK;
    }
    buffer = SLOT(value, value_payload);
    if (!IS_NDARRAY(buffer) || PyArray_BASE((PyArrayObject *)buffer) != NULL || Py_REFCNT(value) != 1 || Py_REFCNT(buffer) != 1 ||
        !is_common(PyArray_DESCR((PyArrayObject *)buffer)) || !has_extra(handle) || (value = new_borrowed_value(buffer)) == NULL) {
        return FALL_BACK;
    }
    Py_SETREF(SLOT(handle, array__value), Py_NewRef(value));
    return value;
}

/* Export the memory of a whole array that owns it and does not share it; FALL_BACK for others. */
static PyObject * /* new */
exported(PyObject *handle)
{
    PyObject *buffer, *value, *made;
    PyArray_Descr *dtype;
    Export *export;
    if (!connected || !IS_ARRAY(handle) || SLOT(handle, array__view) != Py_None || is_readonly(handle) || !mode_is_default()) {
        return FALL_BACK;
    }
    if ((value = borrowed(handle)) == FALL_BACK) {
        return FALL_BACK;
    }
    if ((export = PyObject_GC_New(Export, &export_type)) == NULL) {
        give_back(handle, value);
        Py_DECREF(value);
        return NULL;
    }
    export->root = Py_NewRef(handle);
    export->value = value;
    PyObject_GC_Track((PyObject *)export);
    buffer = SLOT(value, borrowed_value_buffer);
    dtype = PyArray_DESCR((PyArrayObject *)buffer);
    Py_INCREF(dtype);
    made = PyArray_NewFromDescr(&PyArray_Type, dtype, PyArray_NDIM((PyArrayObject *)buffer), PyArray_DIMS((PyArrayObject *)buffer),
                                PyArray_STRIDES((PyArrayObject *)buffer), PyArray_DATA((PyArrayObject *)buffer), NPY_ARRAY_WRITEABLE, NULL);
    if (made == NULL) {
        Py_DECREF(export);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)made, (PyObject *)export) < 0) { /* it steals the reference, even then */
        Py_CLEAR(made);
    }
    return made;
}

/* True if code of SciPy asks for a float32 array. Its optimisers and integrators need float64; Python looks which of
   them it is, and warns. */
static int
is_asked_by_scipy(PyObject *made)
{
    PyObject *globals, *name;
    if (TYPE_NUMBER(made) != NPY_FLOAT || (globals = PyEval_GetGlobals()) == NULL) {
        return 0;
    }
    name = PyDict_GetItem(globals, dunder_name);
    return name != NULL && PyUnicode_CheckExact(name) && PyUnicode_IS_ASCII(name) && PyUnicode_GET_LENGTH(name) > 6 &&
           memcmp(PyUnicode_1BYTE_DATA(name), "scipy.", 6) == 0;
}

/* Export the memory of any array, by the slow path if necessary. */
static PyObject * /* new */
memory_of(PyObject *handle)
{
    PyObject *made = exported(handle);
    if (made == NULL && !PyErr_Occurred()) {
        if (export_ == NULL) {
            return PyErr_Format(PyExc_BufferError, "an array is looked into before the dispatcher is there");
        }
        made = PyObject_CallOneArg(export_, handle);
    }
    if (made != NULL && is_asked_by_scipy(made)) {
        PyObject *done = PyObject_CallNoArgs(warn_of_precision_);
        if (done == NULL) {
            Py_CLEAR(made);
        }
        Py_XDECREF(done);
    }
    return made;
}

/* True if NumPy reads the format that it writes for an array of records; -1 and an error is set. It
   asks for the buffer before it asks for `__array__`. */
static int
reads_its_format(PyObject *records)
{
    int same;
    PyObject *memory = PyMemoryView_FromObject(records), *read;
    if (memory == NULL) {
        return -1;
    }
    read = PyArray_FromAny(memory, NULL, 0, 0, 0, NULL);
    Py_DECREF(memory);
    if (read == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_RuntimeError)) {
            return -1;
        }
        PyErr_Clear();
        return 0;
    }
    same = PyArray_EquivTypes(PyArray_DESCR((PyArrayObject *)read), PyArray_DESCR((PyArrayObject *)records)) &&
           PyDataType_FLAGCHK(PyArray_DESCR((PyArrayObject *)read), NPY_ALIGNED_STRUCT) ==
               PyDataType_FLAGCHK(PyArray_DESCR((PyArrayObject *)records), NPY_ALIGNED_STRUCT);
    Py_DECREF(read);
    return same;
}

static int
get_buffer(PyObject *handle, Py_buffer *view, int flags)
{
    int failed;
    PyObject *made, *checked = NULL;
    view->obj = NULL;
    if (connected && PyList_GET_SIZE(pending_) > 0 && (checked = PyObject_CallNoArgs(check_pending_)) == NULL) {
        return -1;
    }
    Py_XDECREF(checked);
    if ((made = memory_of(handle)) == NULL) {
        return -1;
    }
    if (TYPE_NUMBER(made) == NPY_VOID && (flags & PyBUF_FORMAT) == PyBUF_FORMAT) {
        int reads = reads_its_format(made);
        if (reads <= 0) {
            Py_DECREF(made);
            if (reads == 0) {
                PyErr_SetString(PyExc_BufferError, "an array of these records has no buffer whose format NumPy can read; use numpy.asarray");
            }
            return -1;
        }
    }
    failed = PyObject_GetBuffer(made, view, flags); /* the view keeps the NumPy array, and so the memory, alive */
    Py_DECREF(made);
    return failed;
}

static PyBufferProcs buffer_protocol = {.bf_getbuffer = get_buffer};

/* Base class of handles, as large as NumPy's largest scalar: the slots of arrays lie at the offsets
   of those of scalars, which derive from NumPy's (`HostScalar` of npcompat/numpy/_scalar.py). */
typedef struct {
    PyObject_HEAD
    char number[16];
} Padded;

static PyTypeObject padded_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "npcompat._internal.native._native.Padded",
    .tp_doc = "Base class of handles.",
    .tp_basicsize = sizeof(Padded),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
};

static PyTypeObject buffered_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "npcompat._internal.native._native.Buffered",
    .tp_doc = "Base class of arrays with the buffer protocol.",
    .tp_basicsize = sizeof(Padded),
    .tp_base = &padded_type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_as_buffer = &buffer_protocol,
};

static PyObject *
export_memory(PyObject *Py_UNUSED(module), PyObject *handle)
{
    return memory_of(handle);
}
