// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"

#include <gtest/gtest.h>

#include "base/process.h"

namespace tandem::base {
namespace {

TEST(Printable, LeavesTextAlone) {
    for (const char* text : {"", "conv2/relu", "two\nlines", "gr\xc3\xbc\xc3\x9f",
                             "\xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x99\x82"})
        EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsWhatSteersATerminal) {
    EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
    EXPECT_EQ(printable("a\rb\tc\ad\x7f"), "a\\x0db\\x09c\\x07d\\x7f");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b31m")
        << "a C1 control";
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "fst"),
              "\\xe2\\x80\\xaefst")
        << "right to left";
}

TEST(Printable, ShowsWhatIsNoUtf8) {
    EXPECT_EQ(printable("\x9b"), "\\x9b");
    EXPECT_EQ(printable("a\xff"
                        "b"),
              "a\\xffb");
    EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than it has to be";
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
    EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(ShellWord, QuotesWhereItHasTo) {
    EXPECT_EQ(shell_word("models/digits-1_a.tflite"), "models/digits-1_a.tflite");
    EXPECT_EQ(shell_word("mxu.count=2"), "mxu.count=2");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("two words"), "'two words'");
    EXPECT_EQ(shell_word("a;rm -rf $HOME`x`"), "'a;rm -rf $HOME`x`'");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_word("a\nb"), "$'a\\x0ab'");
    EXPECT_EQ(shell_word("it's\x1b"), "$'it\\'s\\x1b'");
    EXPECT_EQ(quoted({"gtkwave", "a b.gtkw"}), "gtkwave 'a b.gtkw'");
}

}  // namespace
}  // namespace tandem::base
