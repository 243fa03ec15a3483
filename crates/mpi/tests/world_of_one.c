/* A library with the names and types of MPI's standard ABI whose world is one rank. It holds one
   message at a time, which is enough to see that calls and structures fit. */
#include <stdint.h>
#include <string.h>

typedef struct { int source, tag, error, internal[5]; } status;
typedef void *handle;

static char held[64];
static int held_count = -1;

int MPI_Abi_get_version(int *major, int *minor) { *major = 1, *minor = 0; return 0; }
int MPI_Get_library_version(char *text, int *length) {
    strcpy(text, "World of one 5.0\nsecond line");
    *length = (int)strlen(text);
    return 0;
}
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given) {
    *given = wanted;
    return argc || argv || wanted != 2048;
}
int MPI_Comm_set_errhandler(handle comm, handle handler) {
    return (uintptr_t)comm != 0x101 || (uintptr_t)handler != 0x142;
}
int MPI_Comm_rank(handle comm, int *rank) { *rank = 0; return (uintptr_t)comm != 0x101; }
int MPI_Comm_size(handle comm, int *size) { *size = 1; return (uintptr_t)comm != 0x101; }
int MPI_Isend(const void *bytes, int count, handle type, int to, int tag, handle comm,
              handle *request) {
    if (to != 0 || (uintptr_t)type != 0x247 || held_count >= 0 || count > 64) return 1;
    memcpy(held, bytes, (size_t)count);
    held_count = count;
    *request = (handle)1;
    (void)tag, (void)comm;
    return 0;
}
int MPI_Test(handle *request, int *is_done, status *to) {
    (void)to;
    *request = (handle)0x180;
    *is_done = 1;
    return 0;
}
int MPI_Iprobe(int from, int tag, handle comm, int *is_there, status *to) {
    if (from != -1 || tag != -2 || (uintptr_t)comm != 0x101) return 1;
    *is_there = held_count >= 0;
    to->source = 0, to->tag = 19, to->internal[1] = held_count;
    return 0;
}
int MPI_Get_count(const status *from, handle type, int *count) {
    *count = from->internal[1];
    return (uintptr_t)type != 0x247;
}
int MPI_Recv(void *bytes, int count, handle type, int from, int tag, handle comm, status *to) {
    if (count != held_count || from != 0 || tag != 19) return 1;
    memcpy(bytes, held, (size_t)count);
    held_count = -1;
    (void)type, (void)comm, (void)to;
    return 0;
}
int MPI_Error_string(int code, char *text, int *length) {
    (void)code;
    strcpy(text, "not as the standard says");
    *length = (int)strlen(text);
    return 0;
}
int MPI_Abort(handle comm, int code) { (void)comm; return code; }
int MPI_Finalize(void) { return 0; }
