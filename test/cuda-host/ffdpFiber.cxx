/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "ffdpFiber.h"

#include "ffdpCudaHost.h"

#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#  include <sanitizer/asan_interface.h>
#  include <sanitizer/common_interface_defs.h>
#endif

namespace cudahost
{
namespace
{
// A kernel keeps little on its stack; sanitizers and builds without optimization keep more. Pages are only taken when
// they are touched.
constexpr std::size_t StackBytes = 256 * 1024;

Fiber * leaving = nullptr;  // who stopped to let another run
Fiber * entering = nullptr; // who runs next
} // namespace

Fiber::Fiber(Entry entry)
  : m_Entry(entry)
  , m_StackBytes(StackBytes)
{
  const std::size_t guard = std::size_t(sysconf(_SC_PAGESIZE)); // an overflow ends the program instead of spoiling it
  m_Mapping =
    mmap(nullptr, guard + StackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m_Mapping == MAP_FAILED)
  {
    throw std::bad_alloc();
  }
  mprotect(m_Mapping, guard, PROT_NONE);
  m_StackBottom = static_cast<char *>(m_Mapping) + guard;
  this->Rewind();
}

Fiber::~Fiber()
{
  if (m_Mapping)
  {
    munmap(m_Mapping,
           std::size_t(static_cast<const char *>(m_StackBottom) - static_cast<char *>(m_Mapping)) + StackBytes);
  }
}

void
Fiber::Rewind()
{
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(m_StackBottom, m_StackBytes); // frames that never returned
#endif
  m_FakeStack = nullptr;
  char * const top = static_cast<char *>(const_cast<void *>(m_StackBottom)) + m_StackBytes;
  m_Context = boost::context::detail::make_fcontext(top, m_StackBytes, &Fiber::Begin);
}

void
Fiber::SwitchTo(Fiber & next)
{
  leaving = this;
  entering = &next;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&m_FakeStack, next.m_StackBottom, next.m_StackBytes);
#endif
  this->Arrive(boost::context::detail::jump_fcontext(next.m_Context, nullptr));
}

void
Fiber::Arrive(boost::context::detail::transfer_t from)
{
  leaving->m_Context = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
  // Also tells which stack a host thread has.
  __sanitizer_finish_switch_fiber(m_FakeStack, &leaving->m_StackBottom, &leaving->m_StackBytes);
#endif
}

void
Fiber::Begin(boost::context::detail::transfer_t from)
{
  Fiber * const self = entering;
  self->Arrive(from);
  self->m_Entry();
}

} // namespace cudahost
