/* FramelessCall: a call of a function between two others, without a frame of Python's around it.

   What the function finds when it looks for its caller's variables, or for the line to name in a
   warning, is the caller of this object.  The runner's border is made of such calls
   (`_script/border.py`). */

typedef struct {
    PyObject_HEAD
    PyObject *function; /* what is called */
    PyObject *prepare;  /* of arguments and keywords: (arguments, keywords, function to call afterwards or None) */
    PyObject *finish;   /* of the result: what is returned; None: the result */
    PyObject *weak_references;
} FramelessCall;

static PyObject *
frameless_call_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", "prepare", "finish", NULL};
    PyObject *function, *prepare, *finish;
    FramelessCall *self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:FramelessCall", names, &function, &prepare, &finish)) {
        return NULL;
    }
    if ((self = (FramelessCall *)type->tp_alloc(type, 0)) != NULL) {
        self->function = Py_NewRef(function);
        self->prepare = Py_NewRef(prepare);
        self->finish = Py_NewRef(finish);
    }
    return (PyObject *)self;
}

/* Call what `prepare` asked for after the call, with whether the call raised; the error that is set
   stays. */
static int
call_afterwards(PyObject *afterwards, int raised)
{
    PyObject *type, *error, *trace, *nothing;
    if (afterwards == Py_None) {
        return 0;
    }
    PyErr_Fetch(&type, &error, &trace);
    nothing = PyObject_CallOneArg(afterwards, raised ? Py_True : Py_False);
    if (nothing == NULL) {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
        return -1;
    }
    Py_DECREF(nothing);
    PyErr_Restore(type, error, trace);
    return 0;
}

static PyObject *
frameless_call_call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    FramelessCall *self = (FramelessCall *)Py_NewRef(object);
    PyObject *found, *result = NULL, *prepared;
    prepared = PyObject_CallFunctionObjArgs(self->prepare, args, kwargs == NULL ? Py_None : kwargs, NULL);
    if (prepared != NULL && !(PyTuple_CheckExact(prepared) && PyTuple_GET_SIZE(prepared) == 3 && PyTuple_CheckExact(PyTuple_GET_ITEM(prepared, 0)) &&
                              (PyTuple_GET_ITEM(prepared, 1) == Py_None || PyDict_CheckExact(PyTuple_GET_ITEM(prepared, 1))))) {
        PyErr_Format(PyExc_TypeError, "prepare() returned %R; expected a tuple, a dict or None, and a function or None", prepared);
        Py_CLEAR(prepared);
    }
    if (prepared != NULL) {
        PyObject *keywords = PyTuple_GET_ITEM(prepared, 1);
        result = PyObject_Call(self->function, PyTuple_GET_ITEM(prepared, 0), keywords == Py_None ? NULL : keywords);
        if (call_afterwards(PyTuple_GET_ITEM(prepared, 2), result == NULL) < 0) {
            Py_CLEAR(result);
        }
        Py_DECREF(prepared);
    }
    if (result != NULL && self->finish != Py_None) {
        found = PyObject_CallOneArg(self->finish, result);
        Py_SETREF(result, found);
    }
    Py_DECREF(self);
    return result;
}

static int
frameless_call_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((FramelessCall *)self)->function);
    Py_VISIT(((FramelessCall *)self)->prepare);
    Py_VISIT(((FramelessCall *)self)->finish);
    return 0;
}

static int
frameless_call_clear(PyObject *self)
{
    Py_CLEAR(((FramelessCall *)self)->function);
    Py_CLEAR(((FramelessCall *)self)->prepare);
    Py_CLEAR(((FramelessCall *)self)->finish);
    return 0;
}

static void
frameless_call_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    PyObject_ClearWeakRefs(self);
    frameless_call_clear(self);
    Py_TYPE(self)->tp_free(self);
}

/* Read an attribute: its own (`function`, `prepare`, `finish`, methods), `__wrapped__`, or that of the
   function, the documentation included. */
static PyObject *
frameless_call_getattro(PyObject *object, PyObject *name)
{
    PyObject *function = ((FramelessCall *)object)->function, *found;
    if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) {
        return Py_NewRef(function);
    }
    if (PyUnicode_CompareWithASCIIString(name, "__doc__") == 0) {
        return PyObject_GetAttr(function, name);
    }
    found = PyObject_GenericGetAttr(object, name);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        found = PyObject_GetAttr(function, name);
    }
    return found;
}

static PyObject *
frameless_call_repr(PyObject *self)
{
    return PyObject_Repr(((FramelessCall *)self)->function);
}

static PyTypeObject frameless_call_type;

/* Compare functions: a call equals the function that it calls, and another call of it. */
static PyObject *
frameless_call_compare(PyObject *self, PyObject *other, int op)
{
    PyObject *function = ((FramelessCall *)self)->function;
    if (op != Py_EQ && op != Py_NE) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (Py_IS_TYPE(other, &frameless_call_type)) {
        other = ((FramelessCall *)other)->function;
    }
    return PyObject_RichCompare(function, other, op);
}

static Py_hash_t
frameless_call_hash(PyObject *self)
{
    return PyObject_Hash(((FramelessCall *)self)->function);
}

static PyMemberDef frameless_call_members[] = {
    {"function", Py_T_OBJECT_EX, offsetof(FramelessCall, function), Py_READONLY, "The function that is called."},
    {"prepare", Py_T_OBJECT_EX, offsetof(FramelessCall, prepare), Py_READONLY, "What arguments go through."},
    {"finish", Py_T_OBJECT_EX, offsetof(FramelessCall, finish), Py_READONLY, "What the result goes through, or None."},
    {NULL},
};

static PyObject *
frameless_call_reduce(PyObject *object, PyObject *Py_UNUSED(nothing))
{
    FramelessCall *self = (FramelessCall *)object;
    return Py_BuildValue("O(OOO)", Py_TYPE(object), self->function, self->prepare, self->finish);
}

static PyMethodDef frameless_call_methods[] = {
    {"__reduce__", frameless_call_reduce, METH_NOARGS, "Return what pickles it: its three functions."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject frameless_call_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "npcompat._internal.native._native.FramelessCall",
    .tp_doc = "A call of a function between two others, without a frame of Python's around it.",
    .tp_basicsize = sizeof(FramelessCall),
    .tp_weaklistoffset = offsetof(FramelessCall, weak_references),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = frameless_call_new,
    .tp_call = frameless_call_call,
    .tp_repr = frameless_call_repr,
    .tp_richcompare = frameless_call_compare,
    .tp_hash = frameless_call_hash,
    .tp_getattro = frameless_call_getattro,
    .tp_members = frameless_call_members,
    .tp_methods = frameless_call_methods,
    .tp_traverse = frameless_call_traverse,
    .tp_clear = frameless_call_clear,
    .tp_dealloc = frameless_call_dealloc,
};
