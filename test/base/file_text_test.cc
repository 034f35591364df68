// SPDX-License-Identifier: Apache-2.0
#include "base/file_text.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "testing/temp_dir.h"

namespace ks {
namespace {

std::string Message(const Result<std::string>& read) {
  return read.ok() ? "read: " + *read : read.error().message;
}

TEST(FileTextTest, SaysWhatTheSystemRefusesInGosWords) {
  EXPECT_EQ(SystemErrorText(ENOENT), "no such file or directory");
  EXPECT_EQ(SystemErrorText(EACCES), "permission denied");
  EXPECT_EQ(SystemErrorText(EMFILE), "too many open files");
  EXPECT_EQ(SystemErrorText(EIO), "input/output error");
}

TEST(FileTextTest, Reads) {
  const testing::TempDir folder;
  const std::string file = folder.path() + "/file";
  const std::string text = std::string(100'000, 'x') + '\0' + "end\r\n";
  std::ofstream(file, std::ios::binary) << text;
  EXPECT_EQ(ReadFile(file).value(), text);
  EXPECT_GT(ReadFile(file, 10).value().size(), 10U);
  EXPECT_LT(ReadFile(file, 10).value().size(), text.size());
  std::ofstream(folder.path() + "/empty");
  EXPECT_EQ(ReadFile(folder.path() + "/empty").value(), "");
  EXPECT_EQ(Message(ReadFile("/none/x")), "open /none/x: no such file or directory");
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(Message(ReadFile(folder.path())), "read " + folder.path() + ": is a directory");
}

TEST(FileTextTest, WritesAllOrNothing) {
  const testing::TempDir folder;
  const std::string file = folder.path() + "/file";
  std::ofstream(file + ".new") << "of a run that was killed";
  ASSERT_TRUE(WriteFileAtomically(file, "one", 0600).ok());
  EXPECT_EQ(ReadFile(file).value(), "one");
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  ASSERT_TRUE(WriteFileAtomically(file, "two", 0640).ok());
  EXPECT_EQ(ReadFile(file).value(), "two");
  struct stat info {};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  EXPECT_FALSE(std::filesystem::exists(file + ".new"));

  const Result<void> nowhere = WriteFileAtomically(folder.path() + "/none/file", "x", 0600);
  EXPECT_EQ(nowhere.error().message,
            "write " + folder.path() + "/none/file: no such file or directory");
  std::filesystem::create_directory(folder.path() + "/folder");
  const Result<void> over = WriteFileAtomically(folder.path() + "/folder", "x", 0600);
  EXPECT_EQ(over.error().message, "write " + folder.path() + "/folder: is a directory");
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/folder.new"));
}

}  // namespace
}  // namespace ks
