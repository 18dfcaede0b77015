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
#include "ffdpCudaHostInternal.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#  include <sanitizer/asan_interface.h>
#endif

/** Finds the `__shared__` variables of all kernels: their names carry the tag that ffdpCudaHostTypes.h gives them, and
 * the symbol table of the program has addresses and sizes. (A section of their own would be simpler, but GCC does not
 * put the variables of templates there.) */
namespace cudahost
{
namespace
{

struct Variable
{
  unsigned char * begin;
  std::size_t     bytes;
  bool            used = false; // by the kernel that runs, as far as known
};

/** The program's file in memory. */
class OwnFile
{
public:
  OwnFile()
  {
    const int   file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (file >= 0 && fstat(file, &status) == 0)
    {
      m_Bytes = std::size_t(status.st_size);
      m_Data = mmap(nullptr, m_Bytes, PROT_READ, MAP_PRIVATE, file, 0);
    }
    if (file >= 0)
    {
      close(file);
    }
    if (m_Data == MAP_FAILED)
    {
      throw std::runtime_error("the test program cannot read its own file");
    }
  }
  ~OwnFile() { munmap(m_Data, m_Bytes); }
  OwnFile(const OwnFile &) = delete;
  OwnFile &
  operator=(const OwnFile &) = delete;

  template <typename T>
  const T *
  At(std::size_t offset) const
  {
    return reinterpret_cast<const T *>(static_cast<const char *>(m_Data) + offset);
  }

private:
  void *      m_Data = MAP_FAILED;
  std::size_t m_Bytes = 0;
};

std::uintptr_t
LoadAddress()
{
  std::uintptr_t address = 0;
  dl_iterate_phdr(
    [](dl_phdr_info * info, std::size_t, void * to) {
      *static_cast<std::uintptr_t *>(to) = info->dlpi_addr;
      return 1; // the program itself comes first
    },
    &address);
  return address;
}

std::vector<Variable>
FindVariables()
{
  std::vector<Variable> variables;
  const OwnFile         file;
  const auto *          header = file.At<ElfW(Ehdr)>(0);
  const auto *          sections = file.At<ElfW(Shdr)>(header->e_shoff);
  const std::uintptr_t  base = LoadAddress();
  for (int s = 0; s < header->e_shnum; ++s)
  {
    if (sections[s].sh_type == SHT_SYMTAB)
    {
      const char * names = file.At<char>(sections[sections[s].sh_link].sh_offset);
      const auto * symbols = file.At<ElfW(Sym)>(sections[s].sh_offset);
      for (std::size_t i = 0; i < sections[s].sh_size / sizeof(*symbols); ++i)
      {
        if ((symbols[i].st_info & 0xf) == STT_OBJECT && std::strstr(names + symbols[i].st_name, "B10cudashared"))
        {
          variables.push_back({ reinterpret_cast<unsigned char *>(base + symbols[i].st_value), symbols[i].st_size });
        }
      }
    }
  }
#if defined(__SANITIZE_ADDRESS__) // Clang counts the red zone behind a variable as part of it
  for (Variable & variable : variables)
  {
    const void * const zone = __asan_region_is_poisoned(variable.begin, variable.bytes);
    variable.bytes = zone ? std::size_t(static_cast<const unsigned char *>(zone) - variable.begin) : variable.bytes;
  }
#endif
  return variables;
}

std::vector<Variable> &
Variables()
{
  static std::vector<Variable> variables = FindVariables();
  return variables;
}

bool
IsFilled(const Variable & v)
{
  return v.bytes == 0 || (v.begin[0] == PoisonByte && std::memcmp(v.begin, v.begin + 1, v.bytes - 1) == 0);
}

} // namespace

void
SharedVariables::BeginLaunch()
{
  for (Variable & variable : Variables())
  {
    variable.used = false;
    if (!IsFilled(variable))
    {
      std::memset(variable.begin, PoisonByte, variable.bytes);
    }
  }
}

/** Which variables a kernel has is not known, and to fill all of them before each of many small blocks would take
 * longer than the blocks. So they are looked through after blocks 1, 2, 4, ... */
void
SharedVariables::BeginBlock()
{
  if (m_Blocks == m_NextLook)
  {
    for (Variable & variable : Variables())
    {
      variable.used = variable.used || !IsFilled(variable);
    }
    m_NextLook *= 2;
  }
  ++m_Blocks;
  for (const Variable & variable : Variables())
  {
    if (variable.used)
    {
      std::memset(variable.begin, PoisonByte, variable.bytes);
    }
  }
}

} // namespace cudahost
