// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/profile_writer.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/negotiation.h"

namespace ks::daemon {
namespace {

// A message of profile.proto under construction.
class Message {
 public:
  void Number(int field, uint64_t value) {
    if (value == 0) return;
    Varint(static_cast<uint64_t>(field) << 3);
    Varint(value);
  }
  void Bytes(int field, std::string_view bytes) {
    Varint((static_cast<uint64_t>(field) << 3) | 2);
    Varint(bytes.size());
    text_ += bytes;
  }
  void Numbers(int field, const std::vector<uint64_t>& values) {
    Message packed;
    for (const uint64_t value : values) packed.Varint(value);
    Bytes(field, packed.text_);
  }
  const std::string& text() const { return text_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

// Texts by number; the first is empty.
class Texts {
 public:
  uint64_t Add(const std::string& text) {
    const auto [place, added] = numbers_.emplace(text, texts_.size());
    if (added) texts_.push_back(text);
    return place->second;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_ = {""};
  std::map<std::string, uint64_t> numbers_ = {{"", 0}};
};

struct Mapping {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  uint64_t offset = 0;
  std::string file;
};

std::vector<Mapping> ExecutableMappings() {
  std::vector<Mapping> mappings;
  std::ifstream stream("/proc/self/maps");
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Mapping mapping;
    std::string rights;
    std::string device;
    std::string inode;
    char dash = 0;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> rights >> mapping.offset >>
        device >> inode;
    std::getline(words >> std::ws, mapping.file);
    if (rights.find('x') != std::string::npos) mappings.push_back(std::move(mapping));
  }
  return mappings;
}

// This program's file in memory; empty if it cannot be read.
class ProgramImage {
 public:
  ProgramImage() {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
      const auto size = static_cast<size_t>(status.st_size);
      void* place = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      if (place != MAP_FAILED) bytes_ = {static_cast<const char*>(place), size};
    }
    if (file >= 0) close(file);
  }
  ~ProgramImage() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  ProgramImage(const ProgramImage&) = delete;
  ProgramImage& operator=(const ProgramImage&) = delete;

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// The functions of this program by its own symbol table; none if it was stripped.
class ProgramSymbols {
 public:
  ProgramSymbols() {
    Read();
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* base) {
          *static_cast<uintptr_t*>(base) = info->dlpi_addr;  // the program comes first
          return 1;
        },
        &base_);
    std::sort(functions_.begin(), functions_.end(),
              [](const Function& a, const Function& b) { return a.begin < b.begin; });
  }

  // Empty: none of these.
  std::string NameAt(uintptr_t address) const {
    const uintptr_t place = address - base_;
    auto after = std::upper_bound(
        functions_.begin(), functions_.end(), place,
        [](uintptr_t at, const Function& function) { return at < function.begin; });
    if (after == functions_.begin()) return "";
    const Function& function = *std::prev(after);
    return place < function.begin + function.size ? std::string(function.name) : "";
  }

 private:
  struct Function {
    uintptr_t begin;
    uintptr_t size;
    std::string_view name;  // in the image
  };

  // A piece of the file; null: it has no such place.
  template <class T>
  const T* At(uint64_t offset, uint64_t count) const {
    const std::string_view bytes = image_.bytes();
    const bool inside = offset <= bytes.size() && count <= (bytes.size() - offset) / sizeof(T);
    return inside ? reinterpret_cast<const T*>(bytes.data() + offset) : nullptr;
  }

  void Read() {
    const auto* header = At<Elf64_Ehdr>(0, 1);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64) {
      return;
    }
    const auto* sections = At<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    for (int i = 0; sections != nullptr && i < header->e_shnum; ++i) {
      if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum) {
        ReadTable(sections[i], sections[sections[i].sh_link]);
      }
    }
  }

  void ReadTable(const Elf64_Shdr& table, const Elf64_Shdr& names) {
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = At<Elf64_Sym>(table.sh_offset, count);
    const char* texts = At<char>(names.sh_offset, names.sh_size);
    if (symbols == nullptr || texts == nullptr) return;
    for (uint64_t i = 0; i < count; ++i) {
      const Elf64_Sym& symbol = symbols[i];
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0 ||
          symbol.st_name >= names.sh_size) {
        continue;
      }
      const char* name = texts + symbol.st_name;
      functions_.push_back({symbol.st_value,
                            std::max<uintptr_t>(symbol.st_size, 1),
                            {name, strnlen(name, names.sh_size - symbol.st_name)}});
    }
  }

  ProgramImage image_;
  uintptr_t base_ = 0;
  std::vector<Function> functions_;
};

std::string Demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

class Writer {
 public:
  Writer() : mappings_(ExecutableMappings()) {}

  std::string Write(const CpuProfile& profile) {
    profile_.Bytes(1, ValueType("samples", "count").text());
    profile_.Bytes(1, ValueType("cpu", "nanoseconds").text());
    const int64_t period = 1'000'000'000 / kProfileHertz;
    for (const StackSample& sample : profile.samples) {
      Message message;
      std::vector<uint64_t> locations;
      for (const uintptr_t address : sample.addresses) locations.push_back(Location(address));
      message.Numbers(1, locations);
      message.Numbers(
          2, {static_cast<uint64_t>(sample.count), static_cast<uint64_t>(sample.count * period)});
      profile_.Bytes(2, message.text());
    }
    AddMappings();
    profile_.Number(9, static_cast<uint64_t>(profile.begin.time_since_epoch().count()));
    profile_.Number(10, static_cast<uint64_t>(profile.length.count()));
    profile_.Bytes(11, ValueType("cpu", "nanoseconds").text());
    profile_.Number(12, static_cast<uint64_t>(period));
    if (profile.dropped > 0) {
      profile_.Number(13, texts_.Add(std::to_string(profile.dropped) +
                                     " samples were dropped: the buffer was full"));
    }
    for (const std::string& text : texts_.all()) profile_.Bytes(6, text);
    return profile_.text();
  }

 private:
  Message ValueType(const char* type, const char* unit) {
    Message message;
    message.Number(1, texts_.Add(type));
    message.Number(2, texts_.Add(unit));
    return message;
  }

  void AddMappings() {
    for (size_t i = 0; i < mappings_.size(); ++i) {
      Message message;
      message.Number(1, i + 1);
      message.Number(2, mappings_[i].begin);
      message.Number(3, mappings_[i].end);
      message.Number(4, mappings_[i].offset);
      message.Number(5, texts_.Add(mappings_[i].file));
      message.Number(7, 1);
      profile_.Bytes(3, message.text());
    }
  }

  uint64_t Location(uintptr_t address) {
    const auto [place, added] = locations_.emplace(address, locations_.size() + 1);
    if (!added) return place->second;
    Message message;
    message.Number(1, place->second);
    for (size_t i = 0; i < mappings_.size(); ++i) {
      if (address >= mappings_[i].begin && address < mappings_[i].end) message.Number(2, i + 1);
    }
    message.Number(3, address);
    if (const uint64_t function = FunctionAt(address); function != 0) {
      Message line;
      line.Number(1, function);
      message.Bytes(4, line.text());
    }
    profile_.Bytes(4, message.text());
    return place->second;
  }

  // 0: no name is known.
  uint64_t FunctionAt(uintptr_t address) {
    std::string name = symbols_.NameAt(address);
    if (name.empty()) {
      Dl_info found{};
      if (dladdr(reinterpret_cast<void*>(address), &found) != 0 && found.dli_sname != nullptr) {
        name = found.dli_sname;
      }
    }
    if (name.empty()) return 0;
    const auto [place, added] = functions_.emplace(name, functions_.size() + 1);
    if (!added) return place->second;
    Message message;
    message.Number(1, place->second);
    message.Number(2, texts_.Add(Demangled(name)));
    message.Number(3, texts_.Add(name));
    profile_.Bytes(5, message.text());
    return place->second;
  }

  const std::vector<Mapping> mappings_;
  const ProgramSymbols symbols_;
  Texts texts_;
  std::map<uintptr_t, uint64_t> locations_;
  std::map<std::string, uint64_t> functions_;
  Message profile_;
};

}  // namespace

std::string WriteProfile(const CpuProfile& profile) {
  return metrics::Gzip(Writer().Write(profile)).value_or("");
}

}  // namespace ks::daemon
