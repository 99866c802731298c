/*
 * The C interface, include/ik_node/ik_node.h: files of robots, and solves by the entries.
 *
 * A file is what export.py writes. It is read as one copy in memory, into which a robot points.
 * The entries use the indices of the packed models as they are, so that a file counts only if its
 * checksum is right.
 */
#include "ik_node/ik_node.h"

#include "layout.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files of robots are little endian"
#endif

/* Entries by ENTRY_advance and so on. */
const entry_t *ik_node_kernels(void);

#define FORMAT 6
#define DIGEST_SIZE 16
#define MAX_STEPS ((int64_t)1 << 40)
#define LIMIT_SLACK 1e-9 /* as in problem/joint_table.py */
#define CONTACT 1e-6 /* as in model/collisions.py [m] */

/* All memory of a robot, problem or transmission: blocks, each behind a pointer to the one before. */
typedef struct block {
    struct block *before;
    void *unused; /* keeps numbers where malloc would put them */
} block_t;

typedef struct {
    block_t *last;
    int failed; /* 1 = there was not enough */
} memory_t;

/* Return room for so many things, all zero, or NULL. */
static void *room(memory_t *memory, int64_t count, size_t size)
{
    size_t limit = (PTRDIFF_MAX - sizeof(block_t)) / size;
    block_t *block = NULL;
    if (count >= 0 && (uint64_t)count <= limit)
        block = calloc(1, sizeof *block + (size_t)count * size);
    if (block == NULL) {
        memory->failed = 1;
        return NULL;
    }
    block->before = memory->last;
    memory->last = block;
    return block + 1;
}

/* Return a copy of some numbers of eight bytes, or NULL. */
static void *copy_of(memory_t *memory, const void *numbers, int64_t count)
{
    void *made = room(memory, count, 8);
    if (made != NULL)
        memcpy(made, numbers, 8 * (size_t)count);
    return made;
}

/* Free all blocks; the object that has this memory is in the first of them. */
static void release(memory_t memory)
{
    for (block_t *block = memory.last, *before; block != NULL; block = before) {
        before = block->before;
        free(block);
    }
}

typedef struct {
    const int64_t *i;
    const double *f;
} model_t;

typedef struct {
    model_t model;
    const double *table;       /* (nc, CON_COLUMNS) */
    const int64_t *constraint; /* (nc,) index of a goal, or -1 - index of a closure */
    int64_t count;             /* constraints, nc */
    int64_t goals;             /* how many of them are goals, the last ones */
    int64_t first;             /* goals of the chains before */
} chain_t;

/* Where a goal or closure is. */
typedef struct {
    int chain;
    int64_t constraint;
} place_t;

typedef struct {
    int64_t follower, master, count;
    const double *coefficients;
} follower_t;

/* A transmission, see kernels/transmit.py. */
typedef struct {
    model_t model;
    const double *table, *joints, *options;
    const int64_t *plan; /* NULL = there is none */
    const double *data;
} carrier_t;

#define KINDS (IK_NODE_ROWS + 1)

struct ik_node_robot {
    memory_t memory;
    const entry_t *kernels;
    int64_t counts[KINDS]; /* by IK_NODE_JOINTS ... */
    int64_t follower_count;
    const double *lower, *upper, *start, *joints, *options;
    const int64_t *actuated;
    chain_t *chains;    /* with bodies, after them the one that keeps bodies apart */
    place_t *places[2]; /* of goals, of closures; after them those in that chain */
    follower_t *followers;
    model_t links, bodies;
    const double *distances; /* least one, and that up to which pairs are measured [m]; or NULL */
    carrier_t carrier;
    const char *name;
    const char **names[KINDS]; /* chains have none */
};

typedef struct {
    int64_t *k;
    double *w;
    int status; /* IK_NODE_RUNNING until the chain has ended */
    int begun;
} work_t;

struct ik_node_problem {
    memory_t memory;
    const ik_node_robot *robot;
    int64_t chain; /* the one under way; at the end their number */
    int status, interrupted, avoids; /* 1 = the chain that keeps bodies apart is needed */
    double *q, *q0, *positions, *quats; /* poses chain by chain */
    double *pairs;                      /* distances of bodies */
    double *joints;                /* the robot's table, with the limits of this problem */
    work_t *chains;
    work_t links, bodies;
};

#define SIZE_OF(i, name) ((i)[SIZE_##name])
#define BEGIN_OF(i, name) ((i)[FIELD_##name])

/* ---- files ---- */

/* What is left of a file: numbers of eight bytes, then the names. */
typedef struct {
    const unsigned char *next;
    size_t left;
    int failed;
} reader_t;

/* Return the CRC-32 of some bytes, as zlib computes it. */
static uint32_t checksum_of(const unsigned char *bytes, size_t size)
{
    uint32_t sum = UINT32_MAX;
    for (size_t k = 0; k < size; k++) {
        sum ^= bytes[k];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (UINT32_C(0xEDB88320) & -(sum & 1));
    }
    return ~sum;
}

/* Return the next `count` numbers, NULL if there are not so many or an earlier call has failed. */
static const void *take(reader_t *reader, int64_t count)
{
    if (reader->failed || count < 0 || (uint64_t)count > reader->left / 8) {
        reader->failed = 1;
        return NULL;
    }
    const void *numbers = reader->next;
    reader->next += 8 * (size_t)count;
    reader->left -= 8 * (size_t)count;
    return numbers;
}

/* Return the next number; -1 if there is none. */
static int64_t take_number(reader_t *reader)
{
    const int64_t *number = take(reader, 1);
    return number == NULL ? -1 : *number;
}

static model_t take_model(reader_t *reader)
{
    int64_t i_count = take_number(reader), f_count = take_number(reader);
    model_t model = {take(reader, i_count), NULL};
    model.f = take(reader, f_count);
    return model;
}

/* Read the transmission. */
static void take_carrier(reader_t *reader, int64_t nq, carrier_t *into)
{
    into->model = take_model(reader);
    if (reader->failed)
        return;
    into->table = take(reader, CON_COLUMNS * SIZE_OF(into->model.i, nc));
    into->joints = take(reader, JOINT_ROWS * nq);
    into->options = take(reader, OPTION_COUNT);
    int64_t p_count = take_number(reader), d_count = take_number(reader);
    into->plan = take(reader, p_count);
    into->data = take(reader, d_count);
}

/* Read one chain, whose first goal is goal `first` of all chains. */
static void take_chain(reader_t *reader, ik_node_robot *robot, int chain, int64_t first)
{
    int avoids = chain == robot->counts[IK_NODE_CHAINS];
    chain_t *into = robot->chains + chain;
    into->model = take_model(reader);
    if (reader->failed)
        return;
    into->count = SIZE_OF(into->model.i, nc);
    into->table = take(reader, CON_COLUMNS * into->count);
    into->constraint = take(reader, into->count);
    into->first = first;
    for (int64_t c = 0; !reader->failed && c < into->count; c++) {
        int64_t index = into->constraint[c];
        int closure = index < 0;
        if ((into->model.i + BEGIN_OF(into->model.i, kind))[c] == KIND_AVOID)
            continue;
        /* Places in the chain that keeps bodies apart follow those in the others. */
        index = closure ? -1 - index : index;
        index += avoids ? robot->counts[IK_NODE_GOALS + closure] : 0;
        robot->places[closure][index] = (place_t){chain, c};
        into->goals += !closure;
    }
}

/* Return the next name, which ends with a zero; NULL if none does. */
static const char *take_name(reader_t *reader)
{
    const unsigned char *name = reader->next;
    const unsigned char *end = reader->failed ? NULL : memchr(name, 0, reader->left);
    reader->failed = end == NULL;
    if (end == NULL)
        return NULL;
    reader->left -= (size_t)(end + 1 - name);
    reader->next = end + 1;
    return (const char *)name;
}

/* Read what follows the header; return 0 or an error. */
static int take_robot(reader_t *reader, ik_node_robot *robot)
{
    const int64_t *counts = take(reader, KINDS);
    robot->follower_count = take_number(reader);
    if (reader->failed)
        return IK_NODE_ERROR_FORMAT;
    memcpy(robot->counts, counts, sizeof robot->counts);
    int64_t nq = counts[IK_NODE_JOINTS], chains = counts[IK_NODE_CHAINS], goals = 0;
    robot->lower = take(reader, nq);
    robot->upper = take(reader, nq);
    robot->start = take(reader, nq);
    robot->joints = take(reader, JOINT_ROWS * nq);
    robot->actuated = take(reader, nq);
    robot->options = take(reader, OPTION_COUNT);
    memory_t *memory = &robot->memory;
    robot->chains = room(memory, chains + 1, sizeof *robot->chains);
    robot->followers = room(memory, robot->follower_count, sizeof *robot->followers);
    for (int closure = 0; closure < 2; closure++)
        robot->places[closure] =
            room(memory, 2 * counts[IK_NODE_GOALS + closure], sizeof **robot->places);
    for (int kind = 0; kind < KINDS; kind++)
        robot->names[kind] = room(memory, counts[kind], sizeof **robot->names);
    if (memory->failed)
        return IK_NODE_ERROR_MEMORY;
    for (int chain = 0; chain < chains; chain++) {
        take_chain(reader, robot, chain, goals);
        goals += robot->chains[chain].goals;
    }
    if (take_number(reader) == 1) {
        take_chain(reader, robot, (int)chains, counts[IK_NODE_GOALS]);
        robot->bodies = take_model(reader);
        robot->distances = take(reader, 2);
    }
    for (follower_t *each = robot->followers; each < robot->followers + robot->follower_count;
         each++) {
        each->follower = take_number(reader);
        each->master = take_number(reader);
        each->count = take_number(reader);
        each->coefficients = take(reader, each->count);
    }
    robot->links = take_model(reader);
    if (counts[IK_NODE_ACTUATORS] > 0)
        take_carrier(reader, nq, &robot->carrier);
    robot->name = take_name(reader);
    for (int kind = 0; kind < KINDS; kind++)
        for (int64_t index = 0; kind != IK_NODE_CHAINS && index < counts[kind]; index++)
            robot->names[kind][index] = take_name(reader);
    return reader->failed || reader->left > 0 ? IK_NODE_ERROR_FORMAT : 0;
}

/* Read a robot from the content of a file, which is in its memory; return 0 or an error. */
static int robot_of(memory_t memory, const void *content, size_t size, ik_node_robot **robot)
{
    reader_t reader = {content, size, 0};
    const void *magic = take(&reader, 1);
    int64_t format = take_number(&reader);
    const void *digest = take(&reader, DIGEST_SIZE / 8);
    int64_t checksum = take_number(&reader);
    ik_node_robot *made = NULL;
    int error = 0;
    if (magic == NULL || memcmp(magic, "ik_robot", 8) != 0 || reader.failed)
        error = IK_NODE_ERROR_FORMAT;
    else if (format != FORMAT || strlen(ik_node_digest()) != DIGEST_SIZE ||
             memcmp(digest, ik_node_digest(), DIGEST_SIZE) != 0)
        error = IK_NODE_ERROR_VERSION;
    else if (checksum != checksum_of(reader.next, reader.left))
        error = IK_NODE_ERROR_FORMAT;
    else if (ik_node_kernels() == NULL)
        error = IK_NODE_ERROR_PROCESSOR;
    else if ((made = room(&memory, 1, sizeof *made)) == NULL)
        error = IK_NODE_ERROR_MEMORY;
    if (error == 0) {
        made->memory = memory;
        made->kernels = ik_node_kernels();
        error = take_robot(&reader, made);
        memory = made->memory;
    }
    if (error == 0)
        *robot = made;
    else
        release(memory);
    return error;
}

int ik_node_load(const char *path, ik_node_robot **robot)
{
    if (robot != NULL)
        *robot = NULL;
    if (robot == NULL || path == NULL)
        return IK_NODE_ERROR_ARGUMENT;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return IK_NODE_ERROR_FILE;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    memory_t memory = {NULL, 0};
    void *content = NULL;
    int error = IK_NODE_ERROR_FILE;
    /* The size of a folder, which can be opened, is the largest number. */
    if (size >= 0 && size != LONG_MAX && fseek(file, 0, SEEK_SET) == 0) {
        content = room(&memory, size, 1);
        if (content == NULL)
            error = IK_NODE_ERROR_MEMORY;
        else if (fread(content, 1, (size_t)size, file) == (size_t)size)
            error = 0;
    }
    fclose(file);
    if (error == 0)
        return robot_of(memory, content, (size_t)size, robot);
    release(memory);
    return error;
}

int ik_node_load_memory(const void *content, size_t size, ik_node_robot **robot)
{
    if (robot != NULL)
        *robot = NULL;
    if (robot == NULL || content == NULL || size > (size_t)INT64_MAX)
        return IK_NODE_ERROR_ARGUMENT;
    memory_t memory = {NULL, 0};
    void *copy = room(&memory, (int64_t)size, 1);
    if (copy == NULL)
        return IK_NODE_ERROR_MEMORY;
    memcpy(copy, content, size);
    return robot_of(memory, copy, size, robot);
}

void ik_node_free(ik_node_robot *robot)
{
    if (robot != NULL)
        release(robot->memory);
}

/* ---- what a robot is ---- */

int ik_node_interface(void)
{
    return IK_NODE_INTERFACE;
}

const char *ik_node_text(int code)
{
    static const char *const texts[] = {
        "a joint value or pose is not finite, or a quaternion is zero",
        "the library has no code for this processor",
        "there is not enough memory",
        "the file was exported for a library of other sources: export it again",
        "the file is no exported robot, or is damaged",
        "the file cannot be opened or read",
        "a pointer is NULL, or an index or number is out of range",
        "CONVERGED",
        "STALLED",
        "DIVERGED",
        "TIMEOUT",
        "RUNNING",
    };
    int known = code >= IK_NODE_ERROR_INPUT && code <= IK_NODE_RUNNING;
    return known ? texts[code - IK_NODE_ERROR_INPUT] : "unknown code";
}

/* Return 1 if a robot has a joint, link ... of this index. */
static int has(const ik_node_robot *robot, int what, int64_t index)
{
    return robot != NULL && what >= 0 && what < KINDS && index >= 0 &&
           index < robot->counts[what];
}

const char *ik_node_robot_name(const ik_node_robot *robot)
{
    return robot == NULL ? NULL : robot->name;
}

int ik_node_count(const ik_node_robot *robot, int what)
{
    if (robot == NULL || what < 0 || what >= KINDS)
        return IK_NODE_ERROR_ARGUMENT;
    return (int)robot->counts[what];
}

const char *ik_node_name(const ik_node_robot *robot, int what, int index)
{
    return has(robot, what, index) && what != IK_NODE_CHAINS ? robot->names[what][index] : NULL;
}

int ik_node_find(const ik_node_robot *robot, int what, const char *name)
{
    if (robot == NULL || name == NULL || what < 0 || what >= KINDS || what == IK_NODE_CHAINS)
        return IK_NODE_ERROR_ARGUMENT;
    for (int index = 0; index < robot->counts[what]; index++)
        if (strcmp(robot->names[what][index], name) == 0)
            return index;
    return IK_NODE_ERROR_ARGUMENT;
}

const double *ik_node_lower(const ik_node_robot *robot)
{
    return robot == NULL ? NULL : robot->lower;
}

const double *ik_node_upper(const ik_node_robot *robot)
{
    return robot == NULL ? NULL : robot->upper;
}

const double *ik_node_start(const ik_node_robot *robot)
{
    return robot == NULL ? NULL : robot->start;
}

int ik_node_is_actuated(const ik_node_robot *robot, int joint)
{
    return has(robot, IK_NODE_JOINTS, joint) ? (int)robot->actuated[joint] : IK_NODE_ERROR_ARGUMENT;
}

int ik_node_goal_axes(const ik_node_robot *robot, int goal)
{
    if (!has(robot, IK_NODE_GOALS, goal))
        return IK_NODE_ERROR_ARGUMENT;
    place_t place = robot->places[0][goal];
    const int64_t *i = robot->chains[place.chain].model.i;
    return (int)(i + BEGIN_OF(i, mask))[place.constraint];
}

int ik_node_goal_chain(const ik_node_robot *robot, int goal)
{
    return has(robot, IK_NODE_GOALS, goal) ? robot->places[0][goal].chain : IK_NODE_ERROR_ARGUMENT;
}

double ik_node_length(const ik_node_robot *robot, int chain)
{
    if (!has(robot, IK_NODE_CHAINS, chain))
        return 0.0;
    model_t model = robot->chains[chain].model;
    return model.f[BEGIN_OF(model.i, length)];
}

/* Set coupled values as JointTable.follow does, with the same rounding. */
void ik_node_follow(const ik_node_robot *robot, double *q)
{
    if (robot == NULL || q == NULL)
        return;
    const double *lower = robot->joints + JOINT_LOWER * robot->counts[IK_NODE_JOINTS];
    const double *upper = robot->joints + JOINT_UPPER * robot->counts[IK_NODE_JOINTS];
    const follower_t *end = robot->followers + robot->follower_count;
    for (const follower_t *each = robot->followers; each < end; each++) {
        double total = 0.0;
        for (int64_t power = each->count - 1; power >= 0; power--)
            total = total * q[each->master] + each->coefficients[power];
        double within = lower[each->follower] > total ? lower[each->follower] : total;
        within = upper[each->follower] < within ? upper[each->follower] : within;
        q[each->follower] = fabs(total - within) <= LIMIT_SLACK ? within : total;
    }
}

/* ---- problems ---- */

/* Make the workspace of a model, with no solve under way; `table`: its constraints, or NULL. */
static void make_work(memory_t *memory, model_t model, const double *table, work_t *work)
{
    work->k = room(memory, SIZE_OF(model.i, k_size), sizeof *work->k);
    work->w = room(memory, SIZE_OF(model.i, w_size), sizeof *work->w);
    if (work->k != NULL)
        work->k[PHASE] = PHASE_DONE;
    if (work->w != NULL && table != NULL)
        memcpy(work->w + BEGIN_OF(model.i, constraints), table,
               (size_t)(CON_COLUMNS * SIZE_OF(model.i, nc)) * sizeof(double));
}

/* Return the number of chains, with the one that keeps bodies apart. */
static int64_t chains_of(const ik_node_robot *robot)
{
    return robot->counts[IK_NODE_CHAINS] + (robot->distances != NULL);
}

int ik_node_problem_new(const ik_node_robot *robot, ik_node_problem **problem)
{
    if (problem != NULL)
        *problem = NULL;
    if (robot == NULL || problem == NULL)
        return IK_NODE_ERROR_ARGUMENT;
    const int64_t *counts = robot->counts;
    memory_t memory = {NULL, 0};
    ik_node_problem *made = room(&memory, 1, sizeof *made);
    if (made == NULL)
        return IK_NODE_ERROR_MEMORY;
    made->robot = robot;
    made->q = copy_of(&memory, robot->start, counts[IK_NODE_JOINTS]);
    made->joints = copy_of(&memory, robot->joints, JOINT_ROWS * counts[IK_NODE_JOINTS]);
    made->q0 = copy_of(&memory, robot->start, counts[IK_NODE_JOINTS]);
    made->positions = room(&memory, 6 * counts[IK_NODE_GOALS], sizeof *made->positions);
    made->quats = room(&memory, 8 * counts[IK_NODE_GOALS], sizeof *made->quats);
    made->chains = room(&memory, chains_of(robot), sizeof *made->chains);
    make_work(&memory, robot->links, NULL, &made->links);
    if (robot->distances != NULL) {
        made->pairs = room(&memory, RESULT * SIZE_OF(robot->bodies.i, checks), sizeof(double));
        make_work(&memory, robot->bodies, NULL, &made->bodies);
    }
    for (int64_t chain = 0; chain < chains_of(robot) && made->chains != NULL; chain++) {
        const chain_t *of = robot->chains + chain;
        make_work(&memory, of->model, of->table, made->chains + chain);
    }
    if (memory.failed) {
        release(memory);
        return IK_NODE_ERROR_MEMORY;
    }
    made->memory = memory;
    made->chain = counts[IK_NODE_CHAINS];
    made->status = IK_NODE_ERROR_ARGUMENT; /* there is nothing to continue */
    *problem = made;
    return 0;
}

void ik_node_problem_free(ik_node_problem *problem)
{
    if (problem != NULL)
        release(problem->memory);
}

int ik_node_limits(ik_node_problem *problem, const double *lower, const double *upper)
{
    if (problem == NULL || lower == NULL || upper == NULL)
        return IK_NODE_ERROR_ARGUMENT;
    const int64_t nq = problem->robot->counts[IK_NODE_JOINTS];
    const double *table = problem->robot->joints;
    for (int64_t g = 0; g < nq; g++)
        if (!(lower[g] <= upper[g]))
            return IK_NODE_ERROR_ARGUMENT;
    for (int64_t g = 0; g < nq; g++) {
        double min = table[JOINT_LOWER * nq + g], max = table[JOINT_UPPER * nq + g];
        problem->joints[JOINT_LOWER * nq + g] = fmin(fmax(lower[g], min), max);
        problem->joints[JOINT_UPPER * nq + g] = fmin(fmax(upper[g], min), max);
        problem->joints[JOINT_WINDOW * nq + g] =
            lower[g] == upper[g] ? 0.0 : table[JOINT_WINDOW * nq + g];
    }
    return 0;
}

/* Return 1 if all joint values are finite and not too large. */
static int is_usable(const ik_node_robot *robot, const double *q)
{
    for (int64_t g = 0; g < robot->counts[IK_NODE_JOINTS]; g++)
        if (!(fabs(q[g]) <= LARGEST))
            return 0;
    return 1;
}

/* Solve the chain under way for at most `steps` steps, which become fewer. */
static int64_t advance_chain(ik_node_problem *problem, int64_t *steps)
{
    const ik_node_robot *robot = problem->robot;
    const chain_t *chain = robot->chains + problem->chain;
    work_t *work = problem->chains + problem->chain;
    advance_t advance = (advance_t)robot->kernels[ENTRY_advance];
    const double *positions = problem->positions + 3 * chain->first;
    const double *quats = problem->quats + 4 * chain->first;
    int64_t before = work->begun ? work->k[ITERATIONS] : 0;
    /* An interrupted solve begins its other chains as well, so that their loops are closed. */
    int64_t slice = problem->interrupted && !work->begun ? 1 : *steps;
    int64_t status = advance(chain->model.i, chain->model.f, work->k, work->w, problem->q,
                             problem->joints, robot->options, positions, quats, chain->goals,
                             work->begun ? slice : -slice);
    work->begun = 1;
    *steps -= work->k[ITERATIONS] - before;
    if (problem->interrupted)
        work->k[INTERRUPTED] = 1;
    return status;
}

/* Return 1 if bodies are nearer than they may be. */
static int is_in_contact(ik_node_problem *problem)
{
    const ik_node_robot *robot = problem->robot;
    if (robot->distances == NULL)
        return 0;
    const double limits[2] = {robot->distances[1], 0.0};
    distances_t distances = (distances_t)robot->kernels[ENTRY_distances];
    ik_node_follow(robot, problem->q);
    int64_t nearest = distances(robot->bodies.i, robot->bodies.f, problem->bodies.k,
                                problem->bodies.w, problem->q, limits, problem->pairs);
    return nearest >= 0 && problem->pairs[RESULT * nearest] < robot->distances[0] - CONTACT;
}

/*
 * Go on with the chain that keeps bodies apart: from the start, or from the answer in contact if
 * that needed another start, as in problem/problem.py.
 */
static void begin_avoiding(ik_node_problem *problem)
{
    int64_t nq = problem->robot->counts[IK_NODE_JOINTS];
    int met = 1, far = 0;
    for (int64_t chain = 0; chain < problem->robot->counts[IK_NODE_CHAINS]; chain++) {
        met = met && problem->chains[chain].status == IK_NODE_CONVERGED;
        far = far || problem->chains[chain].k[STARTS] > 1;
    }
    for (int64_t g = 0; g < nq; g++) {
        double window = problem->joints[JOINT_WINDOW * nq + g];
        far = far && !(window > 0.0 && isfinite(window));
    }
    if (!met || !far)
        memcpy(problem->q, problem->q0, (size_t)nq * sizeof(double));
    problem->avoids = 1;
}

static int run(ik_node_problem *problem, int64_t steps)
{
    const ik_node_robot *robot = problem->robot;
    const int64_t last = robot->counts[IK_NODE_CHAINS];
    while (problem->chain < last + problem->avoids) {
        if (steps <= 0)
            return problem->status = IK_NODE_RUNNING;
        int64_t status = advance_chain(problem, &steps);
        if (status == STATUS_REFUSED)
            return problem->status = IK_NODE_ERROR_INPUT;
        if (status == STATUS_RUNNING)
            continue;
        problem->chains[problem->chain].status = (int)status;
        problem->chain++;
        if (problem->chain == last && is_in_contact(problem))
            begin_avoiding(problem);
    }
    problem->status = IK_NODE_CONVERGED;
    for (int64_t chain = 0; chain < last + problem->avoids; chain++) {
        if (problem->avoids)
            problem->chains[chain].status = problem->chains[last].status;
        if (problem->chains[chain].status > problem->status)
            problem->status = problem->chains[chain].status;
    }
    ik_node_follow(robot, problem->q);
    return problem->status;
}

int ik_node_solve(ik_node_problem *problem, const double *q0, const double *positions,
                  const double *quats_xyzw, int steps)
{
    if (problem == NULL || steps < 0)
        return IK_NODE_ERROR_ARGUMENT;
    const ik_node_robot *robot = problem->robot;
    const int64_t *counts = robot->counts;
    if (counts[IK_NODE_GOALS] > 0 && (positions == NULL || quats_xyzw == NULL))
        return IK_NODE_ERROR_ARGUMENT;
    memmove(problem->q, q0 == NULL ? robot->start : q0,
            (size_t)counts[IK_NODE_JOINTS] * sizeof(double));
    memcpy(problem->q0, problem->q, (size_t)counts[IK_NODE_JOINTS] * sizeof(double));
    for (int64_t index = 0; index < chains_of(robot); index++) {
        const chain_t *chain = robot->chains + index;
        work_t *work = problem->chains + index;
        work->status = IK_NODE_RUNNING;
        work->begun = 0;
        work->k[ITERATIONS] = work->k[CLOSING] = 0;
        work->k[STARTS] = 1;
        for (int64_t g = 0; g < chain->goals; g++) {
            int64_t goal = chain->constraint[chain->count - chain->goals + g];
            double *position = problem->positions + 3 * (chain->first + g);
            memcpy(position, positions + 3 * goal, 3 * sizeof(double));
            memcpy(problem->quats + 4 * (chain->first + g), quats_xyzw + 4 * goal,
                   4 * sizeof(double));
        }
    }
    problem->chain = 0;
    problem->interrupted = problem->avoids = 0;
    /* Without chains no kernel checks q. */
    if (counts[IK_NODE_CHAINS] == 0 && !is_usable(robot, problem->q))
        return problem->status = IK_NODE_ERROR_INPUT;
    if (counts[IK_NODE_CHAINS] == 0 && is_in_contact(problem))
        begin_avoiding(problem);
    return run(problem, steps > 0 ? steps : MAX_STEPS);
}

int ik_node_continue(ik_node_problem *problem, int steps)
{
    if (problem == NULL || steps < 0)
        return IK_NODE_ERROR_ARGUMENT;
    if (problem->status != IK_NODE_RUNNING)
        return problem->status;
    return run(problem, steps > 0 ? steps : MAX_STEPS);
}

int ik_node_interrupt(ik_node_problem *problem)
{
    if (problem == NULL)
        return IK_NODE_ERROR_ARGUMENT;
    problem->interrupted = 1;
    if (problem->status == IK_NODE_RUNNING)
        problem->chains[problem->chain].k[INTERRUPTED] = 1;
    return 0;
}

const double *ik_node_q(const ik_node_problem *problem)
{
    return problem == NULL ? NULL : problem->q;
}

int ik_node_status(const ik_node_problem *problem)
{
    return problem == NULL ? IK_NODE_ERROR_ARGUMENT : problem->status;
}

int ik_node_chain_status(const ik_node_problem *problem, int chain)
{
    if (problem == NULL || !has(problem->robot, IK_NODE_CHAINS, chain))
        return IK_NODE_ERROR_ARGUMENT;
    return problem->status < 0 ? problem->status : problem->chains[chain].status;
}

/* Return the largest of k[of] - k[less] of all chains, at least `min`; less = -1 stands for 0. */
static int64_t largest(const ik_node_problem *problem, int of, int less, int64_t min)
{
    int64_t result = min;
    int64_t end = problem ? problem->robot->counts[IK_NODE_CHAINS] + problem->avoids : 0;
    for (int64_t chain = problem && problem->avoids ? end - 1 : 0; chain < end; chain++) {
        const int64_t *k = problem->chains[chain].k;
        int64_t count = k[of] - (less < 0 ? 0 : k[less]);
        result = count > result ? count : result;
    }
    return result;
}

int64_t ik_node_steps(const ik_node_problem *problem)
{
    return largest(problem, ITERATIONS, CLOSING, 0);
}

int64_t ik_node_closing_steps(const ik_node_problem *problem)
{
    return largest(problem, CLOSING, -1, 0);
}

int64_t ik_node_starts(const ik_node_problem *problem)
{
    return largest(problem, STARTS, -1, 1);
}

static int error_of(const ik_node_problem *problem, int what, int index, double error[2])
{
    if (problem == NULL || error == NULL || !has(problem->robot, what, index))
        return IK_NODE_ERROR_ARGUMENT;
    if (problem->avoids)
        index += (int)problem->robot->counts[what];
    place_t place = problem->robot->places[what - IK_NODE_GOALS][index];
    const int64_t *i = problem->robot->chains[place.chain].model.i;
    memcpy(error, problem->chains[place.chain].w + BEGIN_OF(i, error) + 2 * place.constraint,
           2 * sizeof(double));
    return 0;
}

int ik_node_goal_error(const ik_node_problem *problem, int goal, double error[2])
{
    return error_of(problem, IK_NODE_GOALS, goal, error);
}

int ik_node_closure_error(const ik_node_problem *problem, int closure, double error[2])
{
    return error_of(problem, IK_NODE_CLOSURES, closure, error);
}

/* ---- kinematics ---- */

int ik_node_forward(ik_node_problem *problem, const double *q, double *poses)
{
    if (problem == NULL || q == NULL || poses == NULL)
        return IK_NODE_ERROR_ARGUMENT;
    const ik_node_robot *robot = problem->robot;
    if (!is_usable(robot, q))
        return IK_NODE_ERROR_INPUT;
    link_poses_t link_poses = (link_poses_t)robot->kernels[ENTRY_link_poses];
    link_poses(robot->links.i, robot->links.f, problem->links.k, problem->links.w, q, poses);
    return 0;
}

int ik_node_jacobian(ik_node_problem *problem, const double *q, int link, double *jacobian)
{
    if (problem == NULL || q == NULL || jacobian == NULL ||
        !has(problem->robot, IK_NODE_LINKS, link))
        return IK_NODE_ERROR_ARGUMENT;
    const ik_node_robot *robot = problem->robot;
    if (!is_usable(robot, q))
        return IK_NODE_ERROR_INPUT;
    link_jacobian_t link_jacobian = (link_jacobian_t)robot->kernels[ENTRY_link_jacobian];
    link_jacobian(robot->links.i, robot->links.f, problem->links.k, problem->links.w, q, jacobian,
                  link);
    return 0;
}

/* ---- transmission ---- */

struct ik_node_transmission {
    memory_t memory;
    const ik_node_robot *robot;
    double *q;
    work_t work;
    int64_t *plan;
    double *data;
    int latest; /* 1 + direction of the last call, whose arrays are those at q; 0 = none */
};

int ik_node_transmission_new(const ik_node_robot *robot, ik_node_transmission **transmission)
{
    if (transmission != NULL)
        *transmission = NULL;
    if (robot == NULL || transmission == NULL || robot->counts[IK_NODE_ACTUATORS] == 0)
        return IK_NODE_ERROR_ARGUMENT;
    memory_t memory = {NULL, 0};
    ik_node_transmission *made = room(&memory, 1, sizeof *made);
    if (made == NULL)
        return IK_NODE_ERROR_MEMORY;
    const carrier_t *carrier = &robot->carrier;
    made->robot = robot;
    made->q = copy_of(&memory, robot->start, robot->counts[IK_NODE_JOINTS]);
    made->plan = copy_of(&memory, carrier->plan, carrier->plan[TRANSMIT_SIZE_p_size]);
    made->data = copy_of(&memory, carrier->data, carrier->plan[TRANSMIT_SIZE_d_size]);
    make_work(&memory, carrier->model, carrier->table, &made->work);
    if (memory.failed) {
        release(memory);
        return IK_NODE_ERROR_MEMORY;
    }
    made->memory = memory;
    *transmission = made;
    return 0;
}

void ik_node_transmission_free(ik_node_transmission *transmission)
{
    if (transmission != NULL)
        release(transmission->memory);
}

int ik_node_transmission_start(ik_node_transmission *transmission, const double *q)
{
    if (transmission == NULL)
        return IK_NODE_ERROR_ARGUMENT;
    const ik_node_robot *robot = transmission->robot;
    if (q != NULL && !is_usable(robot, q))
        return IK_NODE_ERROR_INPUT;
    memmove(transmission->q, q == NULL ? robot->start : q,
            (size_t)robot->counts[IK_NODE_JOINTS] * sizeof(double));
    transmission->latest = 0;
    return 0;
}

#define PART(transmission, name)                                                                   \
    ((transmission)->data + (transmission)->plan[TRANSMIT_FIELD_##name])

static int carry(ik_node_transmission *transmission, int inverse, const double *position,
                 const double *velocity, const double *effort)
{
    if (transmission == NULL || position == NULL)
        return IK_NODE_ERROR_ARGUMENT;
    const ik_node_robot *robot = transmission->robot;
    const carrier_t *carrier = &robot->carrier;
    const int64_t *p = carrier->plan;
    int64_t links = inverse ? p[TRANSMIT_SIZE_nl] : 0, first = inverse ? p[TRANSMIT_SIZE_na] : 0;
    int64_t count = inverse ? p[TRANSMIT_SIZE_ny] : p[TRANSMIT_SIZE_na];
    int64_t values = count - 6 * links, gives = GIVES_POSITION | (inverse ? JOINT_SPACE : 0);
    memcpy(PART(transmission, value_in) + first, position, (size_t)values * sizeof(double));
    double *given = transmission->work.w + BEGIN_OF(carrier->model.i, constraints) + CON_POSE;
    given += (SIZE_OF(carrier->model.i, nc) - links) * CON_COLUMNS;
    for (int64_t link = 0; link < links; link++, given += CON_COLUMNS) {
        const double *pose = position + values + 6 * link;
        double *quat = given + 3;
        memcpy(given, pose, 3 * sizeof(double));
        double angle = sqrt(pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5]);
        double sine = sin(0.5 * angle), scale = angle > 1e-12 ? sine / angle : 0.5;
        for (int k = 0; k < 3; k++)
            quat[k] = scale * pose[3 + k];
        quat[3] = cos(0.5 * angle);
    }
    if (velocity != NULL) {
        memcpy(PART(transmission, rate) + first, velocity, (size_t)count * sizeof(double));
        gives |= GIVES_VELOCITY;
    }
    if (effort != NULL) {
        memcpy(PART(transmission, effort) + first, effort, (size_t)count * sizeof(double));
        gives |= GIVES_EFFORT;
    }
    if (transmission->latest == 1 + inverse)
        gives |= TRACKED;
    transmit_t transmit = (transmit_t)robot->kernels[ENTRY_transmit];
    int64_t status = transmit(carrier->model.i, carrier->model.f, transmission->work.k,
                              transmission->work.w, transmission->q, carrier->joints,
                              carrier->options, transmission->plan, transmission->data, gives);
    transmission->latest = status == STATUS_REFUSED ? 0 : 1 + inverse;
    return status == STATUS_REFUSED ? IK_NODE_ERROR_INPUT : (int)status;
}

int ik_node_to_joints(ik_node_transmission *transmission, const double *position,
                      const double *velocity, const double *effort)
{
    return carry(transmission, 0, position, velocity, effort);
}

int ik_node_to_actuators(ik_node_transmission *transmission, const double *position,
                         const double *velocity, const double *effort)
{
    return carry(transmission, 1, position, velocity, effort);
}

const double *ik_node_transmission_q(const ik_node_transmission *transmission)
{
    return transmission == NULL ? NULL : transmission->q;
}

const double *ik_node_transmission_get(const ik_node_transmission *transmission, int part)
{
    /* Fields by part; those of rows follow those of actuators. */
    static const int fields[] = {
        TRANSMIT_FIELD_velocity, TRANSMIT_FIELD_position, TRANSMIT_FIELD_rate,
        TRANSMIT_FIELD_effort,   TRANSMIT_FIELD_position, TRANSMIT_FIELD_rate,
        TRANSMIT_FIELD_effort,   TRANSMIT_FIELD_motion,   TRANSMIT_FIELD_ratio,
        TRANSMIT_FIELD_numbers,
    };
    if (transmission == NULL || transmission->latest == 0 || part < 0 || part > IK_NODE_SINGULARITY)
        return NULL;
    const int64_t *plan = transmission->plan;
    const double *result = transmission->data + plan[fields[part]];
    if (part >= IK_NODE_ROW_POSITION && part <= IK_NODE_ROW_EFFORT)
        result += plan[TRANSMIT_SIZE_na];
    return part == IK_NODE_SINGULARITY ? result + RESULT_PIVOT : result;
}
