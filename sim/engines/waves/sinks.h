// Files of waves, VCD and FST. Verilator's FST writer, as fst::FileWriter, names.h and blocks.h precede this text. That
// writer writes all but the changes of values.

#include <array>
#include <unistd.h>

namespace fst {

// A friend of FileWriter.
struct WriterTest {
    static void throw_failures(FileWriter& writer) {
        writer.m_main_fst_file_.exceptions(std::ios::failbit | std::ios::badbit);
    }
    static std::ofstream& file(FileWriter& writer) { return writer.m_main_fst_file_; }
    // Sets what the writer would have counted if it had written these blocks.
    static void count(FileWriter& writer, const waves::Blocks& blocks) {
        writer.m_header_.m_start_time = blocks.first();
        writer.m_header_.m_end_time = blocks.last();
        writer.m_header_.m_num_value_change_data_blocks = blocks.count();
    }
    // Closes the file without another attempt to write what is in its buffer.
    static void abandon(FileWriter& writer) {
        std::ofstream& file = writer.m_main_fst_file_;
        file.exceptions(std::ios::goodbit);
        file.close();
    }
};

}  // namespace fst

namespace waves {

constexpr unsigned UNITS = 10;  // Units of time in a cycle.
constexpr int UNIT_LOG10 = -10;  // Of seconds; a cycle is a nanosecond.

// Bits of a value, in words.
inline void take(std::vector<std::uint32_t>& target, const std::uint32_t* words, unsigned lowest, unsigned width) {
    target.resize((width + WORD_BITS - 1) / WORD_BITS);
    for (unsigned done = 0; done < width; done += WORD_BITS) {
        target[done / WORD_BITS] = narrow(words, lowest + done, std::min(WORD_BITS, width - done));
    }
}

// A file of a wave.
class Sink {
public:
    virtual ~Sink() = default;
    virtual void open_scope(const std::string& name, bool is_module) = 0;
    virtual void close_scope() = 0;
    // A number for it; that of `same` if that is not 0.
    virtual unsigned variable(const std::string& name, unsigned width, const Enumeration* enumeration, unsigned same) = 0;
    virtual void time(std::uint64_t now) = 0;
    virtual void change(unsigned number, unsigned width, std::uint64_t value) = 0;
    // Of more than NARROW_BITS bits.
    virtual void change(unsigned number, unsigned width, const std::uint32_t* words) = 0;
    virtual void close() = 0;
    // What went wrong, an errno; 0 if nothing did.
    virtual int problem() const = 0;
};

class VcdSink : public Sink {
public:
    explicit VcdSink(int file) : file_(file) {
        say("$version ctm $end\n$timescale 100 ps $end\n");
        for (unsigned byte = 0; byte < digits_.size(); ++byte) {
            for (unsigned at = 0; at < BYTE_BITS; ++at) digits_[byte][at] = char('0' + (byte >> (BYTE_BITS - 1 - at) & 1));
        }
    }
    void open_scope(const std::string& name, bool is_module) override {
        say(std::string("$scope ") + (is_module ? "module " : "struct ") + name + " $end\n");
    }
    void close_scope() override { say("$upscope $end\n"); }
    unsigned variable(const std::string& name, unsigned width, const Enumeration* enumeration, unsigned same) override {
        if (enumeration) attribute(*enumeration, width);
        const unsigned number = same ? same : unsigned(codes_.size());
        if (!same) codes_.emplace_back(number);
        const Code& code = codes_[number];
        const std::string range = width > 1 ? " [" + std::to_string(width - 1) + ":0]" : "";
        say("$var wire " + std::to_string(width) + " " + std::string(code.text, code.size) + " " + name + range + " $end\n");
        flush(MOST);
        return number;
    }
    void time(std::uint64_t now) override {
        if (!begun_) say("$enddefinitions $end\n");
        begun_ = true;
        say("#" + std::to_string(now) + "\n");
        flush(MOST);
    }
    void change(unsigned number, unsigned width, std::uint64_t value) override {
        if (width == 1) {
            char* const at = space(width);
            *at = char('0' + value);
            end(at + 1, number);
            return;
        }
        const std::uint32_t words[] = {std::uint32_t(value), std::uint32_t(value >> WORD_BITS)};
        change(number, width, words);
    }
    void change(unsigned number, unsigned width, const std::uint32_t* words) override {
        // Without leading zeros.
        unsigned count = (width + WORD_BITS - 1) / WORD_BITS;
        while (count > 1 && !words[count - 1]) --count;
        const std::uint32_t highest = words[count - 1];
        unsigned remaining = (count - 1) * WORD_BITS + (highest ? WORD_BITS - __builtin_clz(highest) : 1);
        char* at = space(remaining);
        *at++ = 'b';
        while (remaining) {
            const unsigned bits = remaining % BYTE_BITS ? remaining % BYTE_BITS : BYTE_BITS;
            remaining -= bits;
            const unsigned byte = words[remaining / WORD_BITS] >> remaining % WORD_BITS & 0xff;
            std::memcpy(at, digits_[byte].data() + BYTE_BITS - bits, bits);
            at += bits;
        }
        *at++ = ' ';
        end(at, number);
    }
    void close() override { flush(0); }
    int problem() const override { return problem_; }

private:
    static constexpr std::size_t MOST = 1 << 20;
    static constexpr unsigned FIRST = '!', DIGITS = 94, BYTE_BITS = 8;

    // What a variable is called in changes.
    struct Code {
        explicit Code(unsigned number) {
            for (; number; number /= DIGITS) text[size++] = char(FIRST + number % DIGITS);
        }
        char text[7] = {};
        unsigned char size = 0;
    };

    // The table of the next variable's values, as GTKWave's fst2vcd -e writes it: whole once, then by its number.
    void attribute(const Enumeration& enumeration, unsigned width) {
        const auto [entry, is_new] = tables_.try_emplace({&enumeration, width}, unsigned(tables_.size() + 1));
        if (is_new) {
            const auto& members = enumeration.members;
            std::string text = "$attrbegin misc 07 " + enumeration.name + " " + std::to_string(members.size());
            for (const auto& member : members) text += " " + member.first;
            for (const auto& member : members) {
                text += " " + std::string(width - std::min<std::size_t>(width, member.second.size()), '0') + member.second;
            }
            say(text + " " + std::to_string(entry->second) + " $end\n");
        }
        say("$attrbegin misc 07 \"\" " + std::to_string(entry->second) + " $end\n");
    }

    // Space for a change of so many digits.
    char* space(std::size_t digits) {
        const std::size_t most = used_ + digits + sizeof(Code) + 3;
        if (text_.size() < most) text_.resize(2 * most);
        return &text_[used_];
    }
    void end(char* at, unsigned number) {
        const Code& code = codes_[number];
        std::memcpy(at, code.text, sizeof code.text);
        at += code.size;
        *at++ = '\n';
        used_ = at - text_.data();
    }
    void say(const std::string& text) {
        std::copy(text.begin(), text.end(), space(text.size()));
        used_ += text.size();
    }
    void flush(std::size_t least) {
        if (used_ <= least) return;
        for (std::size_t done = 0; done < used_ && !problem_;) {
            const ssize_t count = ::write(file_, text_.data() + done, used_ - done);
            if (count > 0) done += count;
            else if (errno != EINTR) problem_ = errno;
        }
        used_ = 0;
    }

    int file_, problem_ = 0;
    bool begun_ = false;
    std::vector<Code> codes_{Code(0)};
    std::map<std::pair<const Enumeration*, unsigned>, unsigned> tables_;
    std::array<std::array<char, BYTE_BITS>, 256> digits_;
    std::vector<char> text_;
    std::size_t used_ = 0;
};

class FstSink : public Sink {
public:
    explicit FstSink(const std::string& path) : writer_(path), blocks_(fst::WriterTest::file(writer_)) {
        writer_.setWriterPackType(fst::WriterPackType::LZ4);
        writer_.setTimecale(UNIT_LOG10);
        writer_.setWriter("ctm");
        attempt([&] { fst::WriterTest::throw_failures(writer_); });
    }
    void open_scope(const std::string& name, bool is_module) override {
        using Type = fst::Hierarchy::ScopeType;
        writer_.setScope(is_module ? Type::VCD_MODULE : Type::VCD_STRUCT, name, std::string{});
    }
    void close_scope() override { writer_.upscope(); }
    unsigned variable(const std::string& name, unsigned width, const Enumeration* enumeration, unsigned same) override {
        if (enumeration) {
            auto [entry, is_new] = tables_.try_emplace(enumeration, 0);
            if (is_new) {
                const std::vector<std::pair<fst::string_view_pair, fst::string_view_pair>> members(
                    enumeration->members.begin(), enumeration->members.end());
                entry->second = writer_.createEnumTable(fst::string_view_pair(enumeration->name), width, members);
            }
            writer_.emitEnumTableRef(entry->second);
        }
        const std::string range = width > 1 ? " [" + std::to_string(width - 1) + ":0]" : "";
        if (!same) blocks_.variable(width);
        return writer_.createVar(fst::Hierarchy::VarType::VCD_WIRE, fst::Hierarchy::VarDirection::IMPLICIT, width,
                                 name + range, same);
    }
    void time(std::uint64_t now) override { blocks_.time(now); }
    void change(unsigned number, unsigned width, std::uint64_t value) override { blocks_.change(number, value, width); }
    void change(unsigned number, unsigned width, const std::uint32_t* words) override {
        blocks_.change(number, words, width);
    }
    void close() override {
        blocks_.close();
        if (blocks_.problem() && !problem_) {
            problem_ = blocks_.problem();
            fst::WriterTest::abandon(writer_);
        }
        fst::WriterTest::count(writer_, blocks_);
        attempt([&] { writer_.close(); });
    }
    int problem() const override { return problem_ ? problem_ : blocks_.problem(); }

private:
    // The writer would end the process if it were called after a failure, so it is not.
    template <typename Action>
    void attempt(const Action& action) {
        if (problem_) return;
        errno = 0;
        try {
            action();
        } catch (const std::ios::failure&) {
            problem_ = errno ? errno : EIO;
            fst::WriterTest::abandon(writer_);
        }
    }

    fst::FileWriter writer_;
    Blocks blocks_;
    std::map<const Enumeration*, fst::EnumHandle> tables_;
    int problem_ = 0;
};

}  // namespace waves
