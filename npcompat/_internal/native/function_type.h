/* Function: wrapper of a public function with a fast path.  `_Function` of native/fast_path.py
   stands in for it.

   `_add_fast_path(op)` promises that a call with nothing but operands only applies this operator;
   such calls don't run the Python function.  Without an operator, calls go through the call cache.

   `_ask_first(asked, ordinary)` sets a function that is called first where an argument's class is
   not among the ordinary ones; if it returns NotImplemented, the Python function is called, without
   the cache.
   Arguments are borrowed from the caller. */

typedef struct {
    PyObject_HEAD
    PyObject *function, *op;
    PyObject *asked, *ordinary; /* NULL, or a function and a set of classes */
    int only_on_host; /* NumPy's own function makes the same checks, on the host only */
    CallCache cache;
} Function;

/* Return 1 if the class of an argument is an ordinary one, 0 if not, -1 with an error set. */
static int
is_ordinary(PyObject *ordinary, PyObject *x)
{
    return PyUnicode_CheckExact(x) || PyType_Check(x) ? 1 : PySet_Contains(ordinary, (PyObject *)Py_TYPE(x));
}

/* The same of all arguments. */
static int
all_ordinary(PyObject *ordinary, PyObject *args, PyObject *kwargs)
{
    PyObject *name, *value;
    Py_ssize_t at = 0, count = PyTuple_GET_SIZE(args);
    int known = 1;
    for (Py_ssize_t i = 0; known > 0 && i < count; i++) {
        known = is_ordinary(ordinary, PyTuple_GET_ITEM(args, i));
    }
    while (known > 0 && kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value)) {
        known = is_ordinary(ordinary, value);
    }
    return known;
}

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
    PyObject *made = FALL_BACK, *out;
    Py_ssize_t count;
    if (self->function == NULL) {
        return PyErr_Format(PyExc_TypeError, "%R was made without a function", Py_TYPE(self));
    }
    count = PyTuple_GET_SIZE(args);
    if (self->asked != NULL) {
        int known = all_ordinary(self->ordinary, args, kwargs);
        if (known < 0) {
            return NULL;
        }
        if (!known) {
            made = PyObject_Call(self->asked, args, kwargs);
            if (made != Py_NotImplemented) {
                return made;
            }
            Py_DECREF(made);
        }
        return PyObject_Call(self->function, args, kwargs);
    }
    if (self->op == NULL) {
        return called(self->function, &PyTuple_GET_ITEM(args, 0), count, kwargs, NULL, &self->cache);
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
function_add_fast_path(Function *self, PyObject *args)
{
    PyObject *op;
    int only_on_host = 0;
    if (!PyArg_ParseTuple(args, "O|p:_add_fast_path", &op, &only_on_host) || !is_operator(op)) {
        return NULL;
    }
    Py_XSETREF(self->op, Py_NewRef(op));
    self->only_on_host = only_on_host;
    Py_RETURN_NONE;
}

static PyObject *
function_ask_first(Function *self, PyObject *args)
{
    PyObject *asked, *ordinary;
    if (!PyArg_ParseTuple(args, "OO!:_ask_first", &asked, &PySet_Type, &ordinary)) {
        return NULL;
    }
    Py_XSETREF(self->asked, Py_NewRef(asked));
    Py_XSETREF(self->ordinary, Py_NewRef(ordinary));
    Py_RETURN_NONE;
}

static int
function_traverse(Function *self, visitproc visit, void *arg)
{
    Py_VISIT(self->function);
    Py_VISIT(self->op);
    Py_VISIT(self->asked);
    Py_VISIT(self->ordinary);
    return cache_visit(&self->cache, visit, arg);
}

static int
function_clear(Function *self)
{
    Py_CLEAR(self->function);
    Py_CLEAR(self->op);
    Py_CLEAR(self->asked);
    Py_CLEAR(self->ordinary);
    cache_clear(&self->cache);
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
    {"_add_fast_path", (PyCFunction)function_add_fast_path, METH_VARARGS, "Let calls with nothing but operands apply an operator."},
    {"_ask_first", (PyCFunction)function_ask_first, METH_VARARGS, "Call a function first where the class of an operand is not an ordinary one."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject function_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "npcompat._internal.native._native.Function",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Wrapper of a Python function with a fast path.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)function_init,
    .tp_call = (ternaryfunc)function_call,
    .tp_methods = function_methods,
    .tp_traverse = (traverseproc)function_traverse,
    .tp_clear = (inquiry)function_clear,
    .tp_dealloc = (destructor)function_dealloc,
};
