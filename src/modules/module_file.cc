// SPDX-License-Identifier: Apache-2.0
// ReadModuleFile: who may have written the file, and whether the loader can look at it.

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/descriptor.h"
#include "base/file_text.h"
#include "modules/module.h"

namespace ks::modules {
namespace {

constexpr size_t kMostFileBytes = size_t{1} << 29;
constexpr std::string_view kSymbol = "kubesched_module";
#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
constexpr uint16_t kMachine = EM_NONE;  // not compared
#endif

// Why others could change what is there; empty: they cannot. In a folder with the sticky bit
// nobody replaces what is not his own.
std::string WhyOthersMayWrite(const struct stat& found) {
  if (found.st_uid != 0 && found.st_uid != geteuid()) {
    return "belongs to user " + std::to_string(found.st_uid) +
           ", who is neither root nor the user that runs kubesched: chown it";
  }
  const bool sticky = S_ISDIR(found.st_mode) && (found.st_mode & S_ISVTX) != 0;
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky) {
    return "can be written by its group or by others, whose code would run in the scheduler: "
           "chmod go-w it";
  }
  return {};
}

// Goes through the folders of the file, from its own up. Absent: in order.
std::optional<Error> CheckFolders(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) {
    return Error{path + ": " + SystemErrorText(errno)};
  }
  std::string folder = resolved;
  while (folder.size() > 1) {
    folder.resize(std::max<size_t>(folder.rfind('/'), 1));
    struct stat found {};
    if (stat(folder.c_str(), &found) != 0) {
      return Error{path + ": " + folder + ": " + SystemErrorText(errno)};
    }
    if (const std::string why = WhyOthersMayWrite(found); !why.empty()) {
      return Error{path + ": its folder " + folder + " " + why};
    }
  }
  return std::nullopt;
}

Result<std::string> ReadAll(const std::string& path, int fd, size_t bytes) {
  std::string content(bytes, '\0');
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = read(fd, content.data() + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{path + ": " + SystemErrorText(errno)};
    if (got == 0) return Error{path + ": became shorter while it was read: try again"};
    done += static_cast<size_t>(got);
  }
  return content;
}

// The loader trusts the tables of a file: one that is cut short would end the process.
std::string WhyNotLoadable(std::string_view content) {
  constexpr const char* kCure = ": build it with c++ -shared -fPIC";
  Elf64_Ehdr header;
  if (content.size() < sizeof(header) || std::memcmp(content.data(), ELFMAG, SELFMAG) != 0) {
    return std::string("is not a shared object") + kCure;
  }
  std::memcpy(&header, content.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      (kMachine != EM_NONE && header.e_machine != kMachine)) {
    return "is a shared object for another machine: build it for this one";
  }
  if (header.e_type != ET_DYN) return std::string("is not a shared object") + kCure;
  const uint64_t table_end = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr) +
                             std::min<uint64_t>(header.e_phoff, SIZE_MAX / 2);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || table_end > content.size()) {
    return "is cut short or damaged: copy it again";
  }
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, content.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_offset > content.size() || segment.p_filesz > content.size() - segment.p_offset) {
      return "is cut short or damaged: copy it again";
    }
  }
  if (content.find(kSymbol) == std::string_view::npos) {
    return "is no kubesched plugin: it has no function kubesched_module "
           "(include/kubesched/plugin.h)";
  }
  return {};
}

}  // namespace

Result<std::string> ReadModuleFile(const std::string& path) {
  // A pipe would block at open, and a device may do anything.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return Error{path + ": " + SystemErrorText(errno)};
  struct stat found {};
  if (fstat(file.get(), &found) != 0) return Error{path + ": " + SystemErrorText(errno)};
  if (!S_ISREG(found.st_mode)) return Error{path + ": is not a regular file: name the .so itself"};
  if (const std::string why = WhyOthersMayWrite(found); !why.empty()) {
    return Error{path + ": " + why};
  }
  if (auto fault = CheckFolders(path)) return *std::move(fault);
  if (found.st_size < 0 || static_cast<uint64_t>(found.st_size) > kMostFileBytes) {
    return Error{path + ": is larger than 512 MiB: strip it"};
  }
  auto content = ReadAll(path, file.get(), static_cast<size_t>(found.st_size));
  if (!content.ok()) return content.error();
  if (const std::string why = WhyNotLoadable(*content); !why.empty()) {
    return Error{path + ": " + why};
  }
  return content;
}

}  // namespace ks::modules
