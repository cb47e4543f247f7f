// Takes what Verilator traces, and writes it under the names of the sources, a signal with fields as one variable for
// each. In front of this text stands Verilator's FST writer as fst::FileWriter; fst::Writer here has what of it
// verilated_fst_c.cpp uses. FIELD_NAMES is the text of names.py.

#include <cerrno>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fst {

// A friend of FileWriter.
struct WriterTest {
    static bool good(const FileWriter& writer) { return writer.m_main_fst_file_.good(); }
};

}  // namespace fst

namespace waves {

constexpr unsigned UNITS = 10;  // Units of time in a cycle.
constexpr int UNIT_LOG10 = -10;  // Of seconds; a cycle is a nanosecond.

struct Enumeration {
    std::string name;
    std::vector<std::pair<std::string, std::string>> members;  // Names and values.
};

struct Leaf {
    std::string path;
    unsigned lowest, width;
    int enumeration;
};

struct Signal {
    std::string shown;
    std::vector<Leaf> leaves;
};

struct Module {
    std::map<std::string, Signal> signals;
    std::map<std::string, std::pair<std::string, std::string>> instances;  // What they are called, and their modules.
};

// The element with this name, which may have got underscores at its end.
template <typename Elements>
const typename Elements::mapped_type* find(const Elements& elements, std::string name) {
    for (;; name.pop_back()) {
        const auto found = elements.find(name);
        if (found != elements.end()) return &found->second;
        if (name.empty() || name.back() != '_') return nullptr;
    }
}

struct Names {
    std::map<std::string, Module> modules;
    std::vector<Enumeration> enumerations;

    explicit Names(const char* text) {
        std::istringstream in(text);
        std::string kind, name;
        Module* module = nullptr;
        Signal* signal = nullptr;
        while (in >> kind) {
            if (kind == "E") {
                unsigned number, count;
                in >> number >> name >> count;
                enumerations.push_back({name, {}});
            } else if (kind == "V") {
                std::string value;
                in >> value >> name;
                enumerations.back().members.emplace_back(name, value);
            } else if (kind == "M") {
                in >> name;
                module = &modules[name];
            } else if (kind == "I") {
                auto& instance = (in >> name, module->instances[name]);
                in >> instance.first >> instance.second;
            } else if (kind == "S") {
                unsigned count;
                in >> name;
                signal = &module->signals[name];
                in >> signal->shown >> count;
            } else if (kind == "L") {
                Leaf leaf;
                in >> leaf.path >> leaf.lowest >> leaf.width >> leaf.enumeration;
                if (leaf.path == ".") leaf.path.clear();
                signal->leaves.push_back(leaf);
            }
        }
    }
};

// Bits of a value, in words.
class Bits {
public:
    unsigned width = 0;

    void take(const std::uint32_t* words, unsigned lowest, unsigned count) {
        width = count;
        words_.resize((count + 31) / 32);
        const unsigned first = lowest / 32, shift = lowest % 32, end = (lowest + count + 31) / 32;
        for (unsigned number = 0; number < words_.size(); ++number) {
            const unsigned at = first + number;
            std::uint64_t both = words[at];
            if (at + 1 < end) both |= std::uint64_t(words[at + 1]) << 32;
            words_[number] = std::uint32_t(both >> shift);
        }
        if (count % 32) words_.back() &= (1u << count % 32) - 1;
    }
    bool operator==(const Bits& other) const { return words_ == other.words_; }
    const std::uint32_t* words() const { return words_.data(); }
    std::uint64_t low() const { return words_[0] | (words_.size() > 1 ? std::uint64_t(words_[1]) << 32 : 0); }

private:
    std::vector<std::uint32_t> words_;
};

// A file of a wave.
class Sink {
public:
    virtual ~Sink() = default;
    virtual void open_scope(const std::string& name, bool is_module) = 0;
    virtual void close_scope() = 0;
    // A number for it; that of `same` if that is not 0.
    virtual unsigned variable(const std::string& name, unsigned width, const Enumeration* enumeration, unsigned same) = 0;
    virtual void time(std::uint64_t now) = 0;
    virtual void change(unsigned number, const Bits& value) = 0;
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
    void change(unsigned number, const Bits& value) override {
        if (value.width == 1) {
            text_ += char('0' + value.low());
        } else {
            text_ += 'b';
            // Without zeros in front.
            unsigned bit = value.width;
            while (bit > 1 && !(value.words()[(bit - 1) / 32] >> (bit - 1) % 32 & 1)) --bit;
            while (bit--) text_ += char('0' + (value.words()[bit / 32] >> bit % 32 & 1));
            text_ += ' ';
        }
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
        if (!problem_) writer_.emitTimeChange(now);
        see();
    }
    void change(unsigned number, const Bits& value) override {
        if (problem_) return;
        if (value.width <= 64) writer_.emitValueChange(number, value.low());
        else writer_.emitValueChange(number, value.words());
    }
    void close() override {
        // What it writes last is behind the stream's buffer, so the file is looked at once more.
        writer_.close();
        see();
    }
    int problem() const override { return problem_; }

private:
    void see() {
        if (!problem_ && !fst::WriterTest::good(writer_)) problem_ = errno ? errno : EIO;
    }

    fst::FileWriter writer_;
    std::map<const Enumeration*, fst::EnumHandle> tables_;
    int problem_ = 0;
};

// What a wave that is opened next is written to.
inline std::unique_ptr<Sink> next_sink;

}  // namespace waves

namespace fst {

class Writer {
public:
    explicit Writer(const std::string&) : sink_(std::move(waves::next_sink)), names_(FIELD_NAMES) { current = this; }

    // One clocks it at a time.
    static inline Writer* current = nullptr;

    void setWriterPackType(WriterPackType) {}
    void setTimecale(int8_t) {}
    void setWriter(const char*) {}
    void setAttrBegin(Hierarchy::AttrType, Hierarchy::AttrSubType, const char*, std::uint64_t) {}
    EnumHandle createEnumTable(const char*, std::uint32_t, const std::vector<std::pair<const char*, const char*>>&) {
        return 0;
    }
    void emitEnumTableRef(EnumHandle) {}
    void flushValueChangeData() {}

    void setScope(Hierarchy::ScopeType, const std::string& name, const std::string&) {
        Scope scope{nullptr, false};
        if (name == ROOT) {
            scope.module = waves::find(names_.modules, name);
        } else if (!scopes_.empty() && scopes_.back().module) {
            const auto* instance = waves::find(scopes_.back().module->instances, name);
            if (instance) {
                scope.module = waves::find(names_.modules, instance->second);
                scope.is_shown = instance->second != WRAPPER;
                if (scope.is_shown) sink_->open_scope(instance->first, true);
            }
        }
        scopes_.push_back(scope);
    }
    void upscope() {
        if (scopes_.back().is_shown) sink_->close_scope();
        scopes_.pop_back();
    }

    Handle createVar(Hierarchy::VarType, Hierarchy::VarDirection, std::uint32_t width, const char* declared, Handle same) {
        const Handle handle = same ? same : Handle(variables_.size() + 1);
        if (!same) variables_.push_back({width, {}, {}});
        if (scopes_.empty() || !scopes_.back().is_shown) return handle;
        const std::string all(declared);
        const std::string name = all.substr(0, all.find_first_of(" ["));
        const waves::Signal* signal = waves::find(scopes_.back().module->signals, name);
        if (all.compare(name.size(), 1, "[") == 0) {
            // A word of a memory.
            const std::size_t end = all.find(']');
            show(handle, name + "__" + all.substr(name.size() + 1, end - name.size() - 1), {"", 0, width, -1});
        } else if (signal && signal->leaves.empty()) {
            show(handle, signal->shown, {"", 0, width, -1});
        } else if (signal) {
            for (const waves::Leaf& leaf : signal->leaves) show(handle, signal->shown, leaf);
            enter({});
        }
        if (name == CLOCK && !clock_) clock_ = variables_[handle - 1].views.back().number;
        return handle;
    }

    void emitTimeChange(std::uint64_t) {}
    void emitValueChange(Handle handle, std::uint64_t value) {
        const std::uint32_t words[] = {std::uint32_t(value), std::uint32_t(value >> 32)};
        emitValueChange(handle, words);
    }
    void emitValueChange(Handle handle, const std::uint32_t* words) {
        Variable& variable = variables_[handle - 1];
        const unsigned count = (variable.width + 31) / 32;
        const bool is_first = variable.last.empty();
        if (is_first) variable.last.assign(count, 0);
        // What changed of a variable with one view is that.
        const bool is_changed = is_first || variable.views.size() == 1;
        for (const View& view : variable.views) {
            value_.take(words, view.lowest, view.width);
            if (!is_changed) before_.take(variable.last.data(), view.lowest, view.width);
            if (is_changed || !(value_ == before_)) sink_->change(view.number, value_);
        }
        std::copy_n(words, count, variable.last.begin());
    }

    // A cycle begins, whose changes come next; in its middle the clock falls, which Verilator is not asked for.
    void rise(std::uint64_t cycle) {
        sink_->time(cycle * waves::UNITS);
        clock(1);
    }
    void fall(std::uint64_t cycle) {
        sink_->time(cycle * waves::UNITS + waves::UNITS / 2);
        clock(0);
    }
    int problem() const { return sink_->problem(); }
    void close() { sink_->close(); }

private:
    static constexpr const char *ROOT = "top", *WRAPPER = "top.machine", *CLOCK = "clk";

    struct Scope {
        const waves::Module* module;
        bool is_shown;
    };
    struct View {
        unsigned lowest, width, number;
    };
    struct Variable {
        unsigned width;
        std::vector<View> views;
        std::vector<std::uint32_t> last;
    };

    void clock(std::uint32_t value) {
        value_.take(&value, 0, 1);
        if (clock_) sink_->change(clock_, value_);
    }

    // Enter the structures of this path, one in the other, in place of those that are open.
    void enter(const std::vector<std::string>& path) {
        std::size_t same = 0;
        while (same < path.size() && same < structures_.size() && path[same] == structures_[same]) ++same;
        for (; structures_.size() > same; structures_.pop_back()) sink_->close_scope();
        for (; same < path.size(); ++same) {
            sink_->open_scope(path[same], false);
            structures_.push_back(path[same]);
        }
    }

    // Show bits of a variable; those that are shown already get one more name.
    void show(Handle handle, const std::string& name, const waves::Leaf& leaf) {
        std::string full = name;
        if (!leaf.path.empty()) full += (leaf.path[0] == '_' ? "" : ".") + leaf.path;
        std::vector<std::string> path;
        std::istringstream steps(full);
        for (std::string step; std::getline(steps, step, '.');) path.push_back(step);
        const std::string last = path.back();
        path.pop_back();
        enter(path);
        auto& views = variables_[handle - 1].views;
        unsigned same = 0;
        for (const View& view : views) {
            if (view.lowest == leaf.lowest && view.width == leaf.width) same = view.number;
        }
        const auto* enumeration = leaf.enumeration < 0 ? nullptr : &names_.enumerations[leaf.enumeration];
        const unsigned number = sink_->variable(last, leaf.width, enumeration, same);
        if (!same) views.push_back({leaf.lowest, leaf.width, number});
    }

    std::unique_ptr<waves::Sink> sink_;
    const waves::Names names_;
    std::vector<Scope> scopes_;
    std::vector<std::string> structures_;
    std::vector<Variable> variables_;
    unsigned clock_ = 0;
    waves::Bits value_, before_;
};

}  // namespace fst
