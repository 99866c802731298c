/*
 * The call of compiled kernels from Python.
 *
 * A `Bound` holds the packed model and the workspace of a chain. Its methods pass their addresses,
 * and those of their arguments, to the entries of the kernels that hot loops call; bound.py calls
 * the others. Arguments are NumPy arrays, read through NumPy's C interface: an array costs a few
 * nanoseconds. Poses may also be arrays with strides, and tuples or lists of numbers. Whatever else
 * arrives is a TypeError; the caller then converts it, or says what is wrong with it. The GIL is
 * released while a kernel runs.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>
#include <string.h>

#include "layout.h"

/* Entries by ENTRY_advance and so on. */
static const entry_t *entries;
#define KERNEL(name) ((name##_t)entries[ENTRY_##name])

typedef struct {
    PyObject_HEAD
    PyArrayObject *model_ints, *model_floats, *work_ints, *work_floats;
    npy_intp nq;
} Bound;

#define INTS(array) ((int64_t *)PyArray_DATA(array))
#define FLOATS(array) ((double *)PyArray_DATA(array))
#define CHAIN(self)                                                                                \
    INTS((self)->model_ints), FLOATS((self)->model_floats), INTS((self)->work_ints),               \
        FLOATS((self)->work_floats)

/* Return true for an array of this type that C code can read and write as it is. */
static int is_plain(PyObject *given, int type)
{
    return PyArray_CheckExact(given) && PyArray_TYPE((PyArrayObject *)given) == type &&
           PyArray_ISCARRAY((PyArrayObject *)given);
}

/*
 * Read the addresses of `count` arguments, arrays of float64 with so many dimensions, a digit each,
 * and numbers; 0, with a TypeError, if one differs.
 */
static int read_arrays(PyObject *const *given, int count, const char *dims, const npy_intp *sizes,
                       double **arrays)
{
    for (int k = 0; k < count; k++) {
        PyArrayObject *array = (PyArrayObject *)given[k];
        if (!is_plain(given[k], NPY_DOUBLE) || PyArray_NDIM(array) != dims[k] - '0' ||
            PyArray_SIZE(array) != sizes[k]) {
            PyErr_Format(PyExc_TypeError, "argument %d: not a contiguous array of %zd float64, %c-D",
                         k, sizes[k], dims[k]);
            return 0;
        }
        arrays[k] = FLOATS(array);
    }
    return 1;
}

/* Read one number; 0 for what is none. */
static int read_number(PyObject *given, double *to)
{
    if (PyFloat_CheckExact(given) || PyArray_IsScalar(given, Double))
        *to = PyFloat_AS_DOUBLE(given);
    else if (PyLong_CheckExact(given)) {
        *to = PyLong_AsDouble(given);
        if (*to == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
    } else
        return 0;
    return 1;
}

/* Read a row of `width` numbers from an array, tuple or list; 0 for anything else. */
static int read_row(PyObject *given, int width, double *to)
{
    if (PyArray_CheckExact(given)) {
        PyArrayObject *array = (PyArrayObject *)given;
        if (PyArray_NDIM(array) != 1 || PyArray_DIM(array, 0) != width ||
            PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISNOTSWAPPED(array))
            return 0;
        for (int k = 0; k < width; k++)
            memcpy(to + k, PyArray_BYTES(array) + k * PyArray_STRIDE(array, 0), sizeof *to);
        return 1;
    }
    if (!(PyTuple_CheckExact(given) || PyList_CheckExact(given)) ||
        PySequence_Fast_GET_SIZE(given) != width)
        return 0;
    for (int k = 0; k < width; k++)
        if (!read_number(PySequence_Fast_GET_ITEM(given, k), to + k))
            return 0;
    return 1;
}

/*
 * Return `goals` rows of `width` numbers: those of a plain array where they are, all others
 * copied to `room`. A single row needs no second dimension. NULL, with a TypeError, if the
 * argument is none of these.
 */
static const double *rows_of(PyObject *given, npy_intp goals, int width, double *room)
{
    if (PyArray_CheckExact(given)) {
        PyArrayObject *array = (PyArrayObject *)given;
        int dims = PyArray_NDIM(array);
        int fits = dims == 2 ? PyArray_DIM(array, 0) == goals && PyArray_DIM(array, 1) == width
                             : dims == 1 && goals == 1 && PyArray_DIM(array, 0) == width;
        if (fits && PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array))
            return FLOATS(array);
        if (fits && PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISNOTSWAPPED(array)) {
            for (npy_intp g = 0; g < goals; g++)
                for (int k = 0; k < width; k++) {
                    const char *number = PyArray_BYTES(array) + k * PyArray_STRIDE(array, dims - 1);
                    number += dims == 2 ? g * PyArray_STRIDE(array, 0) : 0;
                    memcpy(room + width * g + k, number, sizeof *room);
                }
            return room;
        }
    } else if (PyTuple_CheckExact(given) || PyList_CheckExact(given)) {
        if (goals == 1 && read_row(given, width, room))
            return room;
        if (PySequence_Fast_GET_SIZE(given) == goals) {
            npy_intp g = 0;
            while (g < goals &&
                   read_row(PySequence_Fast_GET_ITEM(given, g), width, room + width * g))
                g++;
            if (g == goals)
                return room;
        }
    }
    PyErr_SetString(PyExc_TypeError, "poses: not rows of numbers");
    return NULL;
}

/* Read q, joints and options from the first three arguments; 0, with a TypeError, if they differ. */
static int read_inputs(const Bound *self, PyObject *const *given, double **arrays)
{
    const npy_intp sizes[] = {self->nq, JOINT_ROWS * self->nq, OPTION_COUNT};
    return read_arrays(given, 3, "121", sizes, arrays);
}

static int has_count(Py_ssize_t count, Py_ssize_t expected)
{
    if (count != expected)
        PyErr_Format(PyExc_TypeError, "%zd arguments, not %zd", count, expected);
    return count == expected;
}

/* Poses of so many goals are copied to the stack. */
#define FEW 16

static PyObject *bound_advance(Bound *self, PyObject *const *given, Py_ssize_t count)
{
    double *with[3];
    if (!has_count(count, 7) || !read_inputs(self, given, with))
        return NULL;
    int64_t goals = PyLong_AsLongLong(given[5]), steps = PyLong_AsLongLong(given[6]);
    if (PyErr_Occurred())
        return NULL;
    double few[7 * FEW], *room = few;
    if (goals > FEW && (room = PyMem_Malloc(7 * goals * sizeof *room)) == NULL)
        return PyErr_NoMemory();
    const double *positions = rows_of(given[3], goals, 3, room);
    const double *quats = positions ? rows_of(given[4], goals, 4, room + 3 * goals) : NULL;
    int64_t status = 0;
    if (quats != NULL) {
        Py_BEGIN_ALLOW_THREADS
        status = KERNEL(advance)(CHAIN(self), with[0], with[1], with[2], positions, quats, goals,
                                 steps);
        Py_END_ALLOW_THREADS
    }
    if (room != few)
        PyMem_Free(room);
    return quats ? PyLong_FromLongLong(status) : NULL;
}

static PyObject *call_planned(Bound *self, PyObject *const *given, Py_ssize_t count,
                              transmit_t kernel)
{
    double *with[3];
    if (!has_count(count, 6) || !read_inputs(self, given, with))
        return NULL;
    int64_t last = PyLong_AsLongLong(given[5]);
    if (last == -1 && PyErr_Occurred())
        return NULL;
    /* The first two numbers of a plan are the lengths of both arrays. */
    if (!is_plain(given[3], NPY_INT64) || PyArray_SIZE((PyArrayObject *)given[3]) < 2 ||
        PyArray_SIZE((PyArrayObject *)given[3]) != INTS((PyArrayObject *)given[3])[0]) {
        PyErr_SetString(PyExc_TypeError, "plan: not a contiguous array of int64 of its length");
        return NULL;
    }
    int64_t *plan = INTS((PyArrayObject *)given[3]);
    double *data;
    if (!read_arrays(given + 4, 1, "1", (npy_intp[]){plan[1]}, &data))
        return NULL;
    int64_t status;
    Py_BEGIN_ALLOW_THREADS
    status = kernel(CHAIN(self), with[0], with[1], with[2], plan, data, last);
    Py_END_ALLOW_THREADS
    return PyLong_FromLongLong(status);
}

static PyObject *bound_transmit(Bound *self, PyObject *const *given, Py_ssize_t count)
{
    return call_planned(self, given, count, KERNEL(transmit));
}

static PyObject *bound_find_solutions(Bound *self, PyObject *const *given, Py_ssize_t count)
{
    return call_planned(self, given, count, KERNEL(find_solutions));
}

static PyObject *bound_velocity(Bound *self, PyObject *const *given, Py_ssize_t count)
{
    const npy_intp constraints = (npy_intp)INTS(self->model_ints)[SIZE_nc];
    const npy_intp sizes[] = {self->nq, 6 * constraints, 2 * self->nq};
    double *with[3], *arrays[3];
    if (!has_count(count, 7) || !read_inputs(self, given, with) ||
        !read_arrays(given + 3, 3, "122", sizes, arrays))
        return NULL;
    double period = PyFloat_AsDouble(given[6]);
    if (PyErr_Occurred())
        return NULL;
    int64_t status;
    Py_BEGIN_ALLOW_THREADS
    status = KERNEL(velocity)(CHAIN(self), with[0], with[1], with[2], arrays[0], arrays[1],
                              &period, arrays[2]);
    Py_END_ALLOW_THREADS
    return PyLong_FromLongLong(status);
}

static PyObject *bound_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    PyObject *arrays[4];
    if (named != NULL && PyDict_GET_SIZE(named) > 0) {
        PyErr_SetString(PyExc_TypeError, "Bound takes no named arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "OOOO", arrays, arrays + 1, arrays + 2, arrays + 3))
        return NULL;
    for (int k = 0; k < 4; k++)
        if (!is_plain(arrays[k], k % 2 ? NPY_DOUBLE : NPY_INT64)) {
            PyErr_Format(PyExc_TypeError, "array %d: not contiguous, or of another type", k);
            return NULL;
        }
    Bound *self = (Bound *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    PyArrayObject **own[] = {&self->model_ints, &self->model_floats, &self->work_ints,
                             &self->work_floats};
    for (int k = 0; k < 4; k++) {
        Py_INCREF(arrays[k]);
        *own[k] = (PyArrayObject *)arrays[k];
    }
    self->nq = (npy_intp)INTS(self->model_ints)[SIZE_nq];
    return (PyObject *)self;
}

static PyObject *bound_distances(Bound *self, PyObject *const *given, Py_ssize_t count)
{
    const npy_intp checks = (npy_intp)INTS(self->model_ints)[SIZE_checks];
    const npy_intp sizes[] = {self->nq, 2, RESULT * checks};
    double *arrays[3];
    if (!has_count(count, 3) || !read_arrays(given, 3, "112", sizes, arrays))
        return NULL;
    int64_t nearest;
    Py_BEGIN_ALLOW_THREADS
    nearest = KERNEL(distances)(CHAIN(self), arrays[0], arrays[1], arrays[2]);
    Py_END_ALLOW_THREADS
    return PyLong_FromLongLong(nearest);
}

static void bound_free(Bound *self)
{
    Py_XDECREF(self->model_ints);
    Py_XDECREF(self->model_floats);
    Py_XDECREF(self->work_ints);
    Py_XDECREF(self->work_floats);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))bound_##name, METH_FASTCALL, NULL}

static PyMethodDef bound_methods[] = {
    METHOD(advance),  METHOD(transmit),  METHOD(find_solutions),
    METHOD(velocity), METHOD(distances), {NULL},
};

static PyTypeObject bound_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "ik_node.native.call.Bound",
    .tp_basicsize = sizeof(Bound),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The entries of the kernels, bound to the arrays of a chain.",
    .tp_new = bound_new,
    .tp_dealloc = (destructor)bound_free,
    .tp_methods = bound_methods,
};

static PyObject *use(PyObject *module, PyObject *address)
{
    entries = PyLong_AsVoidPtr(address);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"use", use, METH_O, "Set the address of the table of entries."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "call", "The call of compiled kernels from Python.", -1, functions,
};

PyMODINIT_FUNC PyInit_call(void)
{
    import_array();
    if (PyType_Ready(&bound_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    Py_INCREF(&bound_type);
    if (PyModule_AddObject(module, "Bound", (PyObject *)&bound_type) < 0) {
        Py_DECREF(&bound_type);
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
