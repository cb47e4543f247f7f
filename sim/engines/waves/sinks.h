// Files of waves, VCD and FST. In front of this text stand names.h and Verilator's FST writer as fst::FileWriter.

#include <cerrno>
#include <fstream>
#include <unistd.h>

namespace fst {

// A friend of FileWriter.
struct WriterTest {
    static void throw_failures(FileWriter& writer) {
        writer.m_main_fst_file_.exceptions(std::ios::failbit | std::ios::badbit);
    }
    // Blocks of 128 MB, as it has them, leave the processor's cache with every change.
    static void keep_less(FileWriter& writer) { writer.m_value_change_data_flush_threshold_ = 16 << 20; }
    // What is in its buffer is not tried again.
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
constexpr unsigned WORD_BITS = 32, NARROW_BITS = 64;

// Up to NARROW_BITS bits of a value.
inline std::uint64_t narrow(const std::uint32_t* words, unsigned lowest, unsigned width) {
    const unsigned at = lowest / WORD_BITS, shift = lowest % WORD_BITS;
    const unsigned count = (shift + width + WORD_BITS - 1) / WORD_BITS;
    std::uint64_t value = words[at];
    if (count > 1) value |= std::uint64_t(words[at + 1]) << WORD_BITS;
    value >>= shift;
    if (count > 2) value |= std::uint64_t(words[at + 2]) << (NARROW_BITS - shift);
    return width < NARROW_BITS ? value & ((std::uint64_t{1} << width) - 1) : value;
}

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
        text_ = "$version ctm $end\n$timescale 100 ps $end\n";
        text_.reserve(2 * MOST);
    }
    void open_scope(const std::string& name, bool is_module) override {
        text_ += std::string("$scope ") + (is_module ? "module " : "struct ") + name + " $end\n";
    }
    void close_scope() override { text_ += "$upscope $end\n"; }
    unsigned variable(const std::string& name, unsigned width, const Enumeration*, unsigned same) override {
        const unsigned number = same ? same : ++count_;
        text_ += "$var wire " + std::to_string(width) + " ";
        put_number(number);
        text_ += " " + name;
        if (width > 1) text_ += " [" + std::to_string(width - 1) + ":0]";
        text_ += " $end\n";
        flush(MOST);
        return number;
    }
    void time(std::uint64_t now) override {
        if (!begun_) text_ += "$enddefinitions $end\n";
        begun_ = true;
        text_ += "#" + std::to_string(now) + "\n";
        flush(MOST);
    }
    void change(unsigned number, unsigned width, std::uint64_t value) override {
        if (width == 1) {
            text_ += char('0' + value);
            put_number(number);
            text_ += '\n';
            return;
        }
        const std::uint32_t words[] = {std::uint32_t(value), std::uint32_t(value >> WORD_BITS)};
        change(number, width, words);
    }
    void change(unsigned number, unsigned width, const std::uint32_t* words) override {
        const auto bit = [words](unsigned at) { return words[at / WORD_BITS] >> at % WORD_BITS & 1; };
        // Without zeros in front.
        while (width > 1 && !bit(width - 1)) --width;
        text_ += 'b';
        while (width--) text_ += char('0' + bit(width));
        text_ += ' ';
        put_number(number);
        text_ += '\n';
    }
    void close() override { flush(0); }
    int problem() const override { return problem_; }

private:
    static constexpr std::size_t MOST = 1 << 20;
    static constexpr unsigned FIRST = '!', DIGITS = 94;

    void put_number(unsigned number) {
        for (; number; number /= DIGITS) text_ += char(FIRST + number % DIGITS);
    }
    void flush(std::size_t least) {
        if (text_.size() <= least) return;
        for (std::size_t done = 0; done < text_.size() && !problem_;) {
            const ssize_t count = ::write(file_, text_.data() + done, text_.size() - done);
            if (count > 0) done += count;
            else if (errno != EINTR) problem_ = errno;
        }
        text_.clear();
    }

    int file_, problem_ = 0;
    unsigned count_ = 0;
    bool begun_ = false;
    std::string text_;
};

class FstSink : public Sink {
public:
    explicit FstSink(const std::string& path) : writer_(path) {
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
        return writer_.createVar(fst::Hierarchy::VarType::VCD_WIRE, fst::Hierarchy::VarDirection::IMPLICIT, width,
                                 name + range, same);
    }
    void time(std::uint64_t now) override {
        attempt([&] { writer_.emitTimeChange(now); });
        fst::WriterTest::keep_less(writer_);
    }
    // Changes are only kept; the file is written as time goes on.
    void change(unsigned number, unsigned, std::uint64_t value) override {
        if (!problem_) writer_.emitValueChange(number, value);
    }
    void change(unsigned number, unsigned, const std::uint32_t* words) override {
        if (!problem_) writer_.emitValueChange(number, words);
    }
    void close() override {
        attempt([&] { writer_.close(); });
    }
    int problem() const override { return problem_; }

private:
    // Behind a failure the writer would end the process, so nothing follows.
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
    std::map<const Enumeration*, fst::EnumHandle> tables_;
    int problem_ = 0;
};

}  // namespace waves
