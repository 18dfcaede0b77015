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
#ifndef ffdpFiber_h
#define ffdpFiber_h

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>

namespace cudahost
{

/** A stack and where it stopped. The fiber of a host thread's own stack has no entry and owns nothing.
 *
 * A switch is a handful of instructions. Address sanitizer is told of it, or it would take a frame on another stack for
 * an overflow. */
class Fiber
{
public:
  using Entry = void (*)();

  Fiber() = default;
  explicit Fiber(Entry entry);
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &
  operator=(const Fiber &) = delete;

  /** Stops here, which is `this`, and goes on where `next` stopped; returns when someone switches back. */
  void
  SwitchTo(Fiber & next);

  /** Forgets what was on the stack: the fiber begins again at its entry. */
  void
  Rewind();

private:
  static void
  Begin(boost::context::detail::transfer_t from);
  void
  Arrive(boost::context::detail::transfer_t from);

  boost::context::detail::fcontext_t m_Context = nullptr;
  Entry                              m_Entry = nullptr;
  void *                             m_Mapping = nullptr;
  const void *                       m_StackBottom = nullptr;
  std::size_t                        m_StackBytes = 0;
  void *                             m_FakeStack = nullptr; // of address sanitizer
};

} // namespace cudahost

#endif
