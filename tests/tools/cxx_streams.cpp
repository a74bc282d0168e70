// SPDX-License-Identifier: LGPL-2.1-or-later
#include <mpi.h>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

// Each rank sets its streams in another way, waits for the others, and looks at what it has.
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, bad = 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 3)
		std::ios::sync_with_stdio(false);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		std::cout << std::setprecision(3) << std::fixed << std::setfill('*');
	if (rank == 1)
		std::cerr << std::hex << std::showbase;
	std::ostringstream mine;
	auto *before = std::cout.rdbuf();
	if (rank == 2)
		std::cout.rdbuf(mine.rdbuf());
	if (rank == 4)
		std::cout.setstate(std::ios::failbit);
	for (int i = 0; i < 5; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		std::cout << "rank " << rank << ' ' << std::setw(5) << 1.5 << std::endl;
		std::cerr << "number " << rank << ' ' << 255 << std::endl;
	}
	if (rank == 2) {
		std::cout.rdbuf(before);
		bad |= mine.str() !=
		       "rank 2   1.5\nrank 2   1.5\nrank 2   1.5\nrank 2   1.5\nrank 2   1.5\n";
	}
	bad |= std::cout.fail() != (rank == 4);
	MPI_Barrier(MPI_COMM_WORLD);
	if (bad)
		std::cerr << "wrong on rank " << std::dec << rank << std::endl;
	MPI_Finalize();
	return bad;
}
