// SPDX-License-Identifier: Apache-2.0
#include "base/file_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/descriptor.h"

namespace ks {
namespace {

// Open with these flags, or with no descriptor and errno.
int Open(const std::string& file, int flags, mode_t rights = 0) {
  int descriptor = -1;
  do {
    descriptor = ::open(file.c_str(), flags | O_CLOEXEC, rights);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

Error Failed(const char* call, const std::string& file) {
  const int error = errno;
  Error failed{std::string(call) + " " + file + ": " + SystemErrorText(error)};
  errno = error;
  return failed;
}

bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::string SystemErrorText(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

Result<std::string> ReadFile(const std::string& file, size_t most) {
  const Descriptor opened(Open(file, O_RDONLY));
  if (opened.get() < 0) return Failed("open", file);
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() <= most) {
    const ssize_t count = ::read(opened.get(), buffer.data(), buffer.size());
    if (count == 0) break;
    if (count > 0) {
      text.append(buffer.data(), static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return Failed("read", file);
    }
  }
  return text;
}

Result<void> WriteFileAtomically(const std::string& file, std::string_view text, mode_t rights) {
  const std::string draft = file + ".new";
  {
    const Descriptor opened(Open(draft, O_WRONLY | O_CREAT | O_TRUNC, rights));
    if (opened.get() < 0) return Failed("write", file);
    ::fchmod(opened.get(), rights);  // the draft of a run that was killed may have others
    if (WriteAll(opened.get(), text) && std::rename(draft.c_str(), file.c_str()) == 0) return {};
  }
  const Error failed = Failed("write", file);
  ::unlink(draft.c_str());
  return failed;
}

}  // namespace ks
