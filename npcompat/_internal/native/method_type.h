/* Method: special methods of arrays with a fast path.  `fast_path.method` in Python makes them;
   `slow_path` is the Python function that runs after FALL_BACK.  Arguments are borrowed from the
   caller. */

enum kind { UNARY, BINARY, REFLECTED, IN_PLACE, GET, SET, CALL, CONVERT, COPY };

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *slow_path, *op, *infix, *exponents;
    enum kind kind;
    int only_on_host, elides;
    CallCache cache;
} Method;

static PyObject * /* new */
by_operator(Method *self, PyObject *const *args, Py_ssize_t count)
{
    PyObject *made = self->elides ? elided(self->op, args, count) : FALL_BACK;
    return made != NULL || PyErr_Occurred() ? made : applied(self->op, args, count, no_attrs, self->only_on_host, self->infix);
}

/* The type number of an array's dtype, if that is common (`is_common`); -1 for others. */
static int
common_number(PyObject *handle)
{
    PyObject *array, *dtype, *payload;
    int number;
    if (!IS_ARRAY(handle)) {
        return -1;
    }
    if ((payload = owned_on_xla(handle)) != NULL) {
        dtype = dtype_of(payload);
    }
    else {
        if ((array = current_array(handle)) == NULL) {
            return -1;
        }
        dtype = Py_NewRef((PyObject *)PyArray_DESCR((PyArrayObject *)array));
        Py_DECREF(array);
    }
    number = dtype != NULL && PyArray_DescrCheck(dtype) && is_common((PyArray_Descr *)dtype) ? ((PyArray_Descr *)dtype)->type_num : -1;
    Py_XDECREF(dtype);
    return number;
}

/* `x ** number` for exponents with an operator of their own, such as a square, for dtypes from a
   type number on; FALL_BACK for other exponents. */
static PyObject * /* new */
by_exponent(Method *self, PyObject *const *args)
{
    PyObject *number, *op, *made;
    int least;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->exponents); i++) {
        int same;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(self->exponents, i), "OOi", &number, &op, &least)) {
            return NULL;
        }
        if (Py_TYPE(number) != Py_TYPE(args[1]) || (same = PyObject_RichCompareBool(number, args[1], Py_EQ)) == 0) {
            continue;
        }
        if (same < 0 || common_number(args[0]) < least) {
            return NULL;
        }
        made = elided(op, args, 1);
        return made != NULL || PyErr_Occurred() ? made : applied(op, args, 1, no_attrs, 0, NULL);
    }
    return FALL_BACK;
}

static PyObject *
method_call(Method *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    PyObject *made = FALL_BACK, *swapped[2], *array;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int done = 0;
    if (self->kind == CALL) {
        return called(self->slow_path, args, flags, NULL, keywords, &self->cache);
    }
    if (connected && keywords == NULL && count > 0 && IS_OURS(args[0])) {
        switch (self->kind) {
        case UNARY:
            made = count == 1 ? by_operator(self, args, 1) : FALL_BACK;
            break;
        case BINARY:
            made = count == 2 && self->exponents != NULL ? by_exponent(self, args) : FALL_BACK;
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
            done = count != 2 ? 0 : is_on_xla(args[0]) ? changed_on_xla(self->op, args[0], args[1]) : changed_in_place(self->op, args[0], args[1]);
            made = done > 0 ? Py_NewRef(args[0]) : NULL;
            break;
        case GET:
            made = count != 2 ? FALL_BACK : is_on_xla(args[0]) ? part_on_xla(args[0], args[1]) : part_of(args[0], args[1]);
            break;
        case SET:
            done = count != 3 ? 0 : is_on_xla(args[0]) ? written_on_xla(args[0], args[1], args[2]) : written(args[0], args[1], args[2]);
            made = done > 0 ? Py_NewRef(Py_None) : NULL;
            break;
        case CONVERT: /* `float(x)`: convert the NumPy array */
            if (count == 1 && mode_is_default() && (array = current_array(args[0])) != NULL) {
                made = PyObject_CallOneArg(self->infix, array);
                Py_DECREF(array);
            }
            break;
        case COPY:
            if (count == 1 && IS_ARRAY(args[0]) && mode_is_default() && (array = current_array(args[0])) != NULL) {
                if (is_common(PyArray_DESCR((PyArrayObject *)array)) && PyArray_NBYTES((PyArrayObject *)array) < WORTH_IT) {
                    made = PyArray_NewCopy((PyArrayObject *)array, NPY_CORDER);
                    made = made == NULL ? NULL : new_handle(array_, made);
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
    return PyObject_Vectorcall(self->slow_path, args, flags, keywords);
}

static PyObject *
method_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"kind", "slow_path", "op", "infix", "only_on_host", "elides", "exponents", NULL};
    static const char *const kinds[] = {"unary", "binary", "reflected", "in place", "get", "set", "call", "convert", "copy"};
    const char *kind;
    PyObject *slow_path, *op = Py_None, *infix = NULL, *exponents = NULL;
    int only_on_host = 0, elides = 0, chosen = 0;
    Method *self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO|OOppO!:Method", names, &kind, &slow_path, &op, &infix, &only_on_host, &elides, &PyTuple_Type,
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
        self->slow_path = Py_NewRef(slow_path);
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
method_get(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    return instance == NULL || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

static PyObject *
method_getattr(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        found = PyObject_GetAttr(((Method *)self)->slow_path, name);
    }
    return found;
}

static PyObject *
method_doc(Method *self, void *Py_UNUSED(closure))
{
    return PyObject_GetAttrString(self->slow_path, "__doc__");
}

static PyObject *
method_repr(Method *self)
{
    return PyObject_Repr(self->slow_path);
}

static int
method_traverse(Method *self, visitproc visit, void *arg)
{
    Py_VISIT(self->slow_path);
    Py_VISIT(self->op);
    Py_VISIT(self->infix);
    Py_VISIT(self->exponents);
    return cache_visit(&self->cache, visit, arg);
}

static int
method_clear(Method *self)
{
    Py_CLEAR(self->slow_path);
    Py_CLEAR(self->op);
    Py_CLEAR(self->infix);
    Py_CLEAR(self->exponents);
    cache_clear(&self->cache);
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
    {"__wrapped__", Py_T_OBJECT_EX, offsetof(Method, slow_path), Py_READONLY, "The slow path, a Python function."},
    {NULL},
};

static PyGetSetDef method_attributes[] = {
    {"__doc__", (getter)method_doc, NULL, NULL, NULL},
    {NULL},
};

static PyTypeObject method_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "npcompat._internal.native._native.Method",
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
