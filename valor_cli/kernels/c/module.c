/* The module that Python imports: the functions of all subjects, and how they open columns. */

#include "kernel.h"

/* Whether the format of items is one of some letters. */
static bool is_among(const char *format, const char *letters) {
    return *format && !format[1] && strchr(letters, *format);
}

static bool is_of(const Py_buffer *view, Kind kind) {
    const char *format = view->format ? view->format : "B";
    if ((uintptr_t)view->buf % (size_t)view->itemsize) return false;
    switch (kind) {
    case BYTES:
        return view->itemsize == 1;
    case INTS:
        return view->itemsize == 8 && is_among(format, "lqn");
    case FLOATS:
        return view->itemsize == 8 && is_among(format, "d");
    case COUNTS:
        return (view->itemsize == 8 && is_among(format, "lqn")) ||
               (view->itemsize == 4 && is_among(format, "il"));
    }
    return false;
}

bool open_columns(Columns *columns, PyObject *const *args, Py_ssize_t given, const Wanted *wanted,
                  int count) {
    columns->open = 0;
    if (given < count || count > MOST_COLUMNS) {
        PyErr_Format(PyExc_TypeError, "%zd arguments, %d columns are taken", given, count);
        return false;
    }
    for (int at = 0; at < count; at++) {
        Py_buffer *view = &columns->views[at];
        int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (wanted[at].written ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(args[at], view, flags)) {
            close_columns(columns);
            return false;
        }
        columns->open++;
        if (!is_of(view, wanted[at].kind)) {
            PyErr_Format(PyExc_TypeError, "%s: items of %zd bytes, format %s, or not aligned",
                         wanted[at].name,
                         view->itemsize, view->format ? view->format : "none");
            close_columns(columns);
            return false;
        }
    }
    return true;
}

void close_columns(Columns *columns) {
    while (columns->open) PyBuffer_Release(&columns->views[--columns->open]);
}

PyObject *refused(const char *message) {
    PyErr_SetString(PyExc_ValueError, message);
    return NULL;
}

#define TAKES_COLUMNS(name, function) \
    { name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL }

static PyMethodDef functions[] = {
    TAKES_COLUMNS("order_by_group", valor_order_by_group),
    TAKES_COLUMNS("ranked", valor_ranked),
    TAKES_COLUMNS("detected_boxes", valor_detected_boxes),
    TAKES_COLUMNS("detected_masks", valor_detected_masks),
    TAKES_COLUMNS("annotated_boxes", valor_annotated_boxes),
    TAKES_COLUMNS("members", valor_members),
    TAKES_COLUMNS("overlapping_boxes", valor_overlapping_boxes),
    TAKES_COLUMNS("meet", valor_meet),
    TAKES_COLUMNS("match", valor_match),
    TAKES_COLUMNS("interpolate", valor_interpolate),
    TAKES_COLUMNS("average_precisions", valor_average_precisions),
    TAKES_COLUMNS("tally_resamples", valor_tally_resamples),
    TAKES_COLUMNS("running_sums", valor_running_sums),
    TAKES_COLUMNS("order_hits", valor_order_hits),
    TAKES_COLUMNS("reaching", valor_reaching),
    TAKES_COLUMNS("decoded_counts", valor_decoded_counts),
    TAKES_COLUMNS("drawn_room", valor_drawn_room),
    TAKES_COLUMNS("drawn_counts", valor_drawn_counts),
    TAKES_COLUMNS("bounded", valor_bounded),
    TAKES_COLUMNS("taken_counts", valor_taken_counts),
    TAKES_COLUMNS("overlapping_masks", valor_overlapping_masks),
    TAKES_COLUMNS("png_pixels", valor_png_pixels),
    TAKES_COLUMNS("meetings", valor_meetings),
    TAKES_COLUMNS("json_tape", valor_json_tape),
    TAKES_COLUMNS("csv_tape", valor_csv_tape),
    TAKES_COLUMNS("decimals", valor_decimals),
    TAKES_COLUMNS("coded", valor_coded),
    TAKES_COLUMNS("held", valor_held),
    TAKES_COLUMNS("inside", valor_inside),
    TAKES_COLUMNS("padded", valor_padded),
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    return PyModule_AddIntConstant(module, "REVISION", REVISION);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_compiled", "Compiled twins of kernels.", 0, functions, slots,
    NULL,                  NULL,        NULL,
};

PyMODINIT_FUNC PyInit__compiled(void) { return PyModuleDef_Init(&definition); }
