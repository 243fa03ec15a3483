/* The calls of the standard ABI (MPI 5.0) that Seekstone makes, on top of the MPI whose mpicc
   compiles this. There is one communicator, MPI_COMM_WORLD, and one type, MPI_BYTE, so their
   handles are not looked at; errors are returned. */
#include <mpi.h>
#include <string.h>

typedef struct { int source, tag, error, count, more[4]; } abi_status;
typedef void *abi_handle;
#define REQUEST_NULL ((abi_handle)0x180)

_Static_assert(sizeof(MPI_Request) <= sizeof(abi_handle), "a request fits into a pointer");

static void told(const MPI_Status *from, abi_status *to) {
    to->source = from->MPI_SOURCE;
    to->tag = from->MPI_TAG;
    to->error = from->MPI_ERROR;
    MPI_Get_count(from, MPI_BYTE, &to->count);
}

int seekstone_Get_library_version(char *text, int *length) {
    return MPI_Get_library_version(text, length);
}
int seekstone_Init_thread(int *argc, char ***argv, int wanted, int *given) {
    int own, code = MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &own);
    *given = own >= MPI_THREAD_SERIALIZED ? wanted : 0;
    return code;
}
int seekstone_Comm_set_errhandler(abi_handle comm, abi_handle handler) {
    (void)comm, (void)handler;
    return MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}
int seekstone_Comm_rank(abi_handle comm, int *rank) {
    (void)comm;
    return MPI_Comm_rank(MPI_COMM_WORLD, rank);
}
int seekstone_Comm_size(abi_handle comm, int *size) {
    (void)comm;
    return MPI_Comm_size(MPI_COMM_WORLD, size);
}
int seekstone_Isend(const void *bytes, int count, abi_handle type, int to, int tag,
                    abi_handle comm, abi_handle *request) {
    MPI_Request own;
    int code = MPI_Isend(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &own);
    (void)type, (void)comm;
    *request = 0;
    memcpy(request, &own, sizeof own);
    return code;
}
int seekstone_Test(abi_handle *request, int *is_done, abi_status *status) {
    MPI_Request own;
    int code;
    (void)status;
    memcpy(&own, request, sizeof own);
    code = MPI_Test(&own, is_done, MPI_STATUS_IGNORE);
    memcpy(request, &own, sizeof own);
    if (*is_done) *request = REQUEST_NULL;
    return code;
}
int seekstone_Iprobe(int from, int tag, abi_handle comm, int *is_there, abi_status *status) {
    MPI_Status own;
    int code = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, is_there, &own);
    (void)from, (void)tag, (void)comm;
    if (code == MPI_SUCCESS && *is_there) told(&own, status);
    return code;
}
int seekstone_Get_count(const abi_status *status, abi_handle type, int *count) {
    (void)type;
    *count = status->count;
    return MPI_SUCCESS;
}
int seekstone_Recv(void *bytes, int count, abi_handle type, int from, int tag, abi_handle comm,
                   abi_status *status) {
    (void)type, (void)comm, (void)status;
    return MPI_Recv(bytes, count, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
int seekstone_Error_string(int code, char *text, int *length) {
    return MPI_Error_string(code, text, length);
}
int seekstone_Abort(abi_handle comm, int code) {
    (void)comm;
    return MPI_Abort(MPI_COMM_WORLD, code);
}
int seekstone_Finalize(void) { return MPI_Finalize(); }
