// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads of C++, which wait in virtual time in a simulated run: threads, conditions, futures, a
// function that is called once, and what waits for atomic variables (C++20).
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <latch>
#include <mutex>
#include <queue>
#include <semaphore>
#include <set>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>
#include <starpu.h>

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

static void producer_and_consumers()
{
	std::mutex mutex;
	std::condition_variable some, none;
	std::queue<int> queue;
	std::set<std::thread::id> ids;
	std::vector<std::thread> threads;
	long sum = 0;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] {
			for (;;) {
				std::unique_lock lock(mutex);
				some.wait(lock, [&] { return !queue.empty(); });
				int n = queue.front();
				ids.insert(std::this_thread::get_id());
				if (!n)
					return;
				queue.pop();
				sum += n;
				none.notify_all();
				lock.unlock();
				std::this_thread::sleep_for(1ms);
			}
		});
	for (int i = 100; i >= 0; i--) {
		std::unique_lock lock(mutex);
		none.wait(lock, [&] { return queue.size() < 5; });
		queue.push(i);
		lock.unlock();
		some.notify_one();
	}
	some.notify_all();
	for (auto &t : threads)
		t.join();
	CHECK(sum == 5050);
	CHECK(ids.size() == 3 && !ids.count(std::this_thread::get_id()));
}

static void limits()
{
	std::mutex mutex;
	std::condition_variable never;
	std::timed_mutex timed;
	std::shared_timed_mutex shared;
	std::unique_lock lock(mutex);
	auto before = clock_type::now();

	CHECK(never.wait_for(lock, 20ms) == std::cv_status::timeout);
	CHECK(clock_type::now() - before >= 20ms);
	timed.lock();
	std::thread([&] {
		CHECK(!timed.try_lock_for(10ms));
		CHECK(shared.try_lock_shared_for(10ms));
		shared.unlock_shared();
	}).join();
	CHECK(clock_type::now() - before >= 30ms);
}

static void futures()
{
	std::promise<int> promise;
	std::future<int> later = promise.get_future();
	auto twice = std::async(std::launch::async, [] {
		std::this_thread::sleep_for(30ms);
		return 42;
	});

	CHECK(later.wait_for(5ms) == std::future_status::timeout);
	CHECK(twice.wait_for(1ms) == std::future_status::timeout);
	std::thread keeper([&] { promise.set_value(twice.get() + 1); });
	CHECK(later.get() == 43);
	keeper.detach();
}

static void once_and_atomics()
{
	std::once_flag flag;
	std::atomic<int> phase{ 0 };
	std::counting_semaphore<4> room(0);
	std::latch all(4);
	int calls = 0;
	std::vector<std::jthread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] {
			std::call_once(flag, [&] {
				std::this_thread::sleep_for(5ms);
				calls++;
			});
			CHECK(calls == 1);
			phase.wait(0);
			room.acquire();
			all.count_down();
		});
	CHECK(!room.try_acquire_for(2ms));
	std::this_thread::sleep_for(10ms);
	phase = 1;
	phase.notify_all();
	room.release(4);
	all.wait();
}

static void mistakes()
{
	std::thread t([] {});
	bool told = false;

	t.join();
	try {
		t.join();
	} catch (const std::system_error &) {
		told = true;
	}
	CHECK(told);
}

// Objects of threads end with their thread, the youngest first, and find their own members.
static std::atomic<int> made, ended, youngest;

static thread_local int left = 1;

struct own {
	int number = ++made;
	std::string name = "an object of a thread that needs memory: " + std::to_string(number);

	~own()
	{
		CHECK(name == "an object of a thread that needs memory: " + std::to_string(number));
		youngest += left;
		ended++;
	}
};
static thread_local own first;
struct after_own {
	~after_own() { left = 2; }
};
static thread_local after_own second __attribute__((used));

static void touch(void *[], void *)
{
	CHECK(first.number > 5);
	CHECK(left == 1);
}

static void objects_of_threads()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 5; i++)
		threads.emplace_back([i] {
			int number = first.number;

			std::this_thread::sleep_for(std::chrono::milliseconds(i));
			CHECK(number == first.number && left == 1);
		});
	for (std::thread &t : threads)
		t.join();
	CHECK(made == 5 && ended == 5 && youngest == 10);
}

// Of workers, which end at the shutdown.
static void objects_of_workers()
{
	struct starpu_codelet cl;

	starpu_codelet_init(&cl);
	cl.cpu_funcs[0] = touch;
	for (int i = 0; i < 20; i++)
		CHECK(!starpu_task_insert(&cl, 0));
	starpu_task_wait_for_all();
	CHECK(made > 5 && ended == 5);
}

int main()
{
	CHECK(!starpu_init(nullptr));
	CHECK(std::thread::hardware_concurrency() > 0);
	producer_and_consumers();
	limits();
	futures();
	once_and_atomics();
	mistakes();
	objects_of_threads();
	objects_of_workers();
	starpu_shutdown();
	CHECK(ended == made && youngest == 2 * made);

	static thread_local struct last {
		~last() { puts("the object of the main thread has ended"); }
	} of_main;

	(void) &of_main;
	puts("threads of C++");
	return 0;
}
