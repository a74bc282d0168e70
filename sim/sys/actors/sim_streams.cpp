// SPDX-License-Identifier: LGPL-2.1-or-later
// The standard streams of C++, kept once for each rank.
//
// Invariant: see sim_streams.h.
#include "actors/sim_streams.h"
#include <dlfcn.h>
#include <array>
#include <iostream>
#include <new>
extern "C" {
#include "base/log.h"
}

namespace
{
std::ios_base::Init streams_are_made;

template <class C> struct Setting {
	std::ios_base::fmtflags flags;
	std::streamsize precision, width;
	std::ios_base::iostate exceptions, state;
	C fill;
	std::basic_ostream<C> *tie;
	std::basic_streambuf<C> *buffer;

	explicit Setting(const std::basic_ios<C> &s)
	    : flags(s.flags()), precision(s.precision()), width(s.width()),
	      exceptions(s.exceptions()), state(s.rdstate()), fill(s.fill()), tie(s.tie()),
	      buffer(s.rdbuf())
	{
	}

	bool operator==(const Setting &s) const
	{
		return flags == s.flags && precision == s.precision && width == s.width &&
		       exceptions == s.exceptions && state == s.state && fill == s.fill &&
		       tie == s.tie && buffer == s.buffer;
	}

	void give(std::basic_ios<C> &s) const
	{
		s.exceptions(std::ios_base::goodbit);
		s.flags(flags);
		s.precision(precision);
		s.width(width);
		s.fill(fill);
		s.tie(tie);
		if (s.rdbuf() != buffer)
			s.rdbuf(buffer);
		s.clear(state);
		try {
			s.exceptions(exceptions);
		} catch (const std::ios_base::failure &) {
			// The program has got this one already.
		}
	}
};

// The four streams of one kind of characters.
template <class C> struct Four {
	std::array<std::basic_ios<C> *, 4> streams;
	std::array<Setting<C>, 4> first; // as the library made them

	Four(std::basic_ios<C> &in, std::basic_ios<C> &out, std::basic_ios<C> &error,
	     std::basic_ios<C> &log)
	    : streams{ &in, &out, &error, &log }, first(now())
	{
	}

	std::array<Setting<C>, 4> now() const
	{
		return { Setting<C>(*streams[0]), Setting<C>(*streams[1]), Setting<C>(*streams[2]),
			 Setting<C>(*streams[3]) };
	}

	void give(const std::array<Setting<C>, 4> &settings) const
	{
		for (size_t i = 0; i < 4; i++)
			settings[i].give(*streams[i]);
	}
};

Four<char> narrow(std::cin, std::cout, std::cerr, std::clog);
Four<wchar_t> wide(std::wcin, std::wcout, std::wcerr, std::wclog);

bool is_of_library(const void *buffer)
{
	static const void *library;
	Dl_info info;
	if (!library && dladdr(narrow.first[0].buffer, &info))
		library = info.dli_fbase;
	return dladdr(buffer, &info) && info.dli_fbase == library;
}

// The settings of a rank, and which of the buffers are its own.
template <class C> struct Kept {
	std::array<Setting<C>, 4> settings;
	std::array<bool, 4> own;

	// sync_with_stdio(false) puts other buffers of the library into all streams, and ends the
	// first ones.
	Kept(Four<C> &four) : settings(four.now()), own()
	{
		for (size_t i = 0; i < 4; i++) {
			auto *buffer = settings[i].buffer;
			if (buffer == four.first[i].buffer)
				continue;
			if (buffer && is_of_library(buffer))
				four.first[i].buffer = buffer;
			else
				own[i] = true;
		}
	}

	void give(const Four<C> &four) const
	{
		for (size_t i = 0; i < 4; i++) {
			Setting<C> s = settings[i];
			if (!own[i])
				s.buffer = four.first[i].buffer;
			s.give(*four.streams[i]);
		}
	}
};
} // namespace

struct orr_sim_streams {
	Kept<char> n{ narrow };
	Kept<wchar_t> w{ wide };
};

void orr_sim_streams_leave(struct orr_sim_streams **kept)
{
	orr_sim_streams_free(kept);
	if (narrow.now() == narrow.first && wide.now() == wide.first)
		return;
	*kept = new (std::nothrow) orr_sim_streams;
	if (!*kept)
		orr_fatal("out of memory for the streams of a rank; simulate fewer nodes");
	narrow.give(narrow.first);
	wide.give(wide.first);
}

void orr_sim_streams_enter(const struct orr_sim_streams *kept)
{
	if (!kept)
		return;
	kept->n.give(narrow);
	kept->w.give(wide);
}

void orr_sim_streams_free(struct orr_sim_streams **kept)
{
	delete *kept;
	*kept = nullptr;
}
