/* Temporary elision: `a * b + c` writes the sum into the temporary product, as NumPy does; without
   it the sum gets a new array.

   A reference count of 1 proves that an operand is a temporary only if the interpreter itself
   evaluates the infix operator.  Other C callers of PyNumber_Add, such as NumPy's loops over object
   arrays and Cython, may pass references that they do not count.  So the C stack is inspected, too:
   only Python's own library may lie between the interpreter and this module. */

enum {
    WORTH_IT = 1 << 16, /* bytes below which `a.copy()` copies at once (method_type.h) */
    WORTH_ASKING = 1 << 20 /* minimum bytes of a temporary: inspecting the stack takes up to 9 us, a new array of this size 100 */
};
#if PY_VERSION_HEX >= 0x030E0000
#define IS_TEMPORARY(object) PyUnstable_Object_IsUniqueReferencedTemporary(object)
static int
asked_by_interpreter(void)
{
    return 1; /* Python's own test is enough */
}
#elif defined(__GLIBC__) && defined(__GNUC__)
#include <dlfcn.h>
#include <execinfo.h>
#define IS_TEMPORARY(object) (Py_REFCNT(object) == 1)

enum { MOST_FRAMES = 8, MOST_PLACES = 16 };
enum place { UNKNOWN_PLACE, OWN, PYTHONS, INTERPRETERS, FOREIGN };

static struct {
    void *address;
    enum place place;
} known_places[MOST_PLACES];

static enum place
place_of_code(void *address)
{
    static void *own_base, *pythons_base;
    static int used;
    Dl_info found;
    enum place place = FOREIGN;
    for (int i = 0; i < MOST_PLACES && known_places[i].address != NULL; i++) {
        if (known_places[i].address == address) {
            return known_places[i].place;
        }
    }
    if (pythons_base == NULL) {
        if (dladdr((void *)known_places, &found) == 0) {
            return FOREIGN;
        }
        own_base = found.dli_fbase;
        if (dladdr((void *)(size_t)PyNumber_Add, &found) == 0) {
            return FOREIGN;
        }
        pythons_base = found.dli_fbase;
    }
    if (dladdr(address, &found) != 0) {
        if (found.dli_fbase == own_base) {
            place = OWN;
        }
        else if (found.dli_fbase == pythons_base) {
            place = found.dli_sname != NULL && strncmp(found.dli_sname, "_PyEval_EvalFrameDefault", 24) == 0 ? INTERPRETERS : PYTHONS;
        }
    }
    known_places[used % MOST_PLACES].address = address;
    known_places[used++ % MOST_PLACES].place = place;
    return place;
}

static int
asked_by_interpreter(void)
{
    void *frames[MOST_FRAMES];
    int count = backtrace(frames, MOST_FRAMES);
    for (int i = 1; i < count; i++) {
        enum place place = place_of_code(frames[i]);
        if (place == INTERPRETERS) {
            return 1;
        }
        if (place == FOREIGN) {
            return 0;
        }
    }
    return 0;
}
#else
#define IS_TEMPORARY(object) 0 /* the C stack can't be inspected here */
static int
asked_by_interpreter(void)
{
    return 0;
}
#endif

/* True if the running instruction is BINARY_OP, executed by the interpreter.  A function that is
   called instead may hold a borrowed reference to its operand. */
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
    return found && asked_by_interpreter();
}

/* True if an array is a temporary whose buffer can hold the result with another operand, or of a
   unary operator. */
static int
can_take(PyObject *handle, PyObject *other)
{
    PyObject *value, *payload, *added = NULL;
    PyArrayObject *array;
    int number, takes;
    if (!IS_ARRAY(handle) || !IS_TEMPORARY(handle) || SLOT(handle, array__view) != Py_None || SLOT(handle, array__extra) != Py_None) {
        return 0;
    }
    value = SLOT(handle, array__value);
    if (!IS(value, value_) || Py_REFCNT(value) != 1 || SLOT(value, value_node) != Py_None) {
        return 0;
    }
    payload = SLOT(value, value_payload);
    array = (PyArrayObject *)payload;
    if (!IS_NDARRAY(payload) || Py_REFCNT(payload) != 1 || PyArray_NBYTES(array) < WORTH_ASKING || PyArray_BASE(array) != NULL ||
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
    if (!IS_OURS(other) || (added = current_array(other)) == NULL) {
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

/* Compute a ufunc of one or two operands into the operand that is a temporary; FALL_BACK if none
   is. */
static PyObject * /* new */
elided(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    PyObject *arguments[3], *made, *taken = NULL;
    for (Py_ssize_t i = 0; taken == NULL && i < count; i++) {
        taken = can_take(args[i], count == 1 ? NULL : args[1 - i]) ? args[i] : NULL;
    }
    if (taken == NULL || PyErr_Occurred() || !mode_is_default() || only_programs || !in_expression()) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if ((arguments[i] = IS_OURS(args[i]) ? current_array(args[i]) : Py_NewRef(args[i])) == NULL) {
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
