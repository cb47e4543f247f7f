// Takes what Verilator traces, and writes it under the names of the sources. A signal with fields has a variable for
// each field. sinks.h precedes this text. Verilator's verilated_fst_c.cpp follows it: fst::Writer has those members of
// Verilator's writer that are used there. FIELD_NAMES is the text of names.py.

#include <memory>

namespace waves {

// What a wave that is opened next is written to.
inline std::unique_ptr<Sink> next_sink;

}  // namespace waves

namespace fst {

class Writer {
public:
    explicit Writer(const std::string&) : sink_(std::move(waves::next_sink)), names_(FIELD_NAMES) { newest = this; }

    static inline Writer* newest = nullptr;

    void setWriterPackType(WriterPackType) {}
    void setTimecale(int8_t) {}
    void setWriter(const char*) {}
    void setAttrBegin(Hierarchy::AttrType, Hierarchy::AttrSubType, const char*, std::uint64_t) {}
    EnumHandle createEnumTable(const char*, std::uint32_t, const std::vector<std::pair<const char*, const char*>>&) {
        return 0;
    }
    void emitEnumTableRef(EnumHandle) {}
    void flushValueChangeData() {}

    void setScope(Hierarchy::ScopeType type, const std::string& name, const std::string&) {
        Scope scope{nullptr, false, false};
        if (type == Hierarchy::ScopeType::SV_ARRAY && !scopes_.empty()) {
            // A memory, whose words are in the memory's own scope.
            scope = scopes_.back();
            scope.is_array = true;
        } else if (name == ROOT) {
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
        if (scopes_.back().is_shown && !scopes_.back().is_array) sink_->close_scope();
        scopes_.pop_back();
    }

    Handle createVar(Hierarchy::VarType, Hierarchy::VarDirection, std::uint32_t width, const char* declared, Handle same) {
        const Handle handle = same ? same : Handle(variables_.size() + 1);
        if (!same) {
            variables_.push_back({width, std::uint32_t(lasts_.size()), 0, 0});
            lasts_.resize(lasts_.size() + (width + waves::NARROW_BITS - 1) / waves::NARROW_BITS);
            declared_.emplace_back();
            wholes_.push_back({0, 0});
        }
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
        if (name == CLOCK && !clock_) clock_ = declared_[handle - 1].back().number;
        return handle;
    }

    void emitTimeChange(std::uint64_t) {}
    void emitValueChange(Handle handle, std::uint64_t value) {
        // Most have one view; these touch no more memory than that.
        const Whole whole = wholes_[handle - 1];
        if (whole.number) {
            sink_->change(whole.number, whole.width, value);
            return;
        }
        const Variable variable = variables_[handle - 1];
        std::uint64_t& last = lasts_[variable.last];
        const std::uint64_t changed = is_first_ ? ~std::uint64_t{0} : value ^ last;
        last = value;
        for (std::size_t i = variable.first; i < variable.end; ++i) {
            const View& view = views_[i];
            const std::uint64_t mask = ~std::uint64_t{0} >> (waves::NARROW_BITS - view.width);
            if (changed >> view.lowest & mask) sink_->change(view.number, view.width, value >> view.lowest & mask);
        }
    }
    void emitValueChange(Handle handle, const std::uint32_t* words) {
        const Variable variable = variables_[handle - 1];
        auto* const last = reinterpret_cast<std::uint32_t*>(&lasts_[variable.last]);
        // If a variable with one view changes, that view has changed.
        const bool is_changed = is_first_ || variable.end == variable.first + 1;
        for (std::size_t i = variable.first; i < variable.end; ++i) {
            const View& view = views_[i];
            if (view.width <= waves::NARROW_BITS) {
                const std::uint64_t value = waves::narrow(words, view.lowest, view.width);
                if (is_changed || value != waves::narrow(last, view.lowest, view.width)) {
                    sink_->change(view.number, view.width, value);
                }
                continue;
            }
            waves::take(value_, words, view.lowest, view.width);
            if (!is_changed) waves::take(before_, last, view.lowest, view.width);
            if (is_changed || value_ != before_) sink_->change(view.number, view.width, value_.data());
        }
        std::copy_n(words, (variable.width + waves::WORD_BITS - 1) / waves::WORD_BITS, last);
    }

    // Begins a cycle, whose changes follow.
    void rise(std::uint64_t cycle) {
        if (views_.empty()) settle();
        sink_->time(cycle * waves::UNITS);
        clock(1);
    }
    // Writes that the clock falls in the middle of a cycle, which Verilator does not trace.
    void fall(std::uint64_t cycle) {
        sink_->time(cycle * waves::UNITS + waves::UNITS / 2);
        clock(0);
        is_first_ = false;
    }
    int problem() const { return sink_->problem(); }
    void close() { sink_->close(); }

private:
    static constexpr const char *ROOT = "top", *WRAPPER = "top.machine", *CLOCK = "clk";

    struct Scope {
        const waves::Module* module;
        bool is_shown, is_array;
    };
    struct View {
        unsigned lowest, width, number;
    };
    // The view of a variable that has one, of all its bits; 0 if it has others.
    struct Whole {
        unsigned number, width;
    };
    struct Variable {
        std::uint32_t width;
        std::uint32_t last;        // Where its value is in `lasts_`.
        std::uint32_t first, end;  // Its views in `views_`.
    };

    // Sorts the views by variable.
    void settle() {
        for (std::size_t i = 0; i < variables_.size(); ++i) {
            variables_[i].first = std::uint32_t(views_.size());
            views_.insert(views_.end(), declared_[i].begin(), declared_[i].end());
            variables_[i].end = std::uint32_t(views_.size());
        }
        declared_.clear();
    }

    void clock(std::uint32_t value) {
        if (clock_) sink_->change(clock_, 1, std::uint64_t{value});
    }

    // Closes the structures that are not of this path, and opens those of it that are not open.
    void enter(const std::vector<std::string>& path) {
        std::size_t same = 0;
        while (same < path.size() && same < structures_.size() && path[same] == structures_[same]) ++same;
        for (; structures_.size() > same; structures_.pop_back()) sink_->close_scope();
        for (; same < path.size(); ++same) {
            sink_->open_scope(path[same], false);
            structures_.push_back(path[same]);
        }
    }

    // Declares bits of a variable; those that are declared already get one more name.
    void show(Handle handle, const std::string& name, const waves::Leaf& leaf) {
        std::string full = name;
        if (!leaf.path.empty()) full += (leaf.path[0] == '_' ? "" : ".") + leaf.path;
        std::vector<std::string> path;
        std::istringstream steps(full);
        for (std::string step; std::getline(steps, step, '.');) path.push_back(step);
        const std::string last = path.back();
        path.pop_back();
        enter(path);
        auto& views = declared_[handle - 1];
        unsigned same = 0;
        for (const View& view : views) {
            if (view.lowest == leaf.lowest && view.width == leaf.width) same = view.number;
        }
        const auto* enumeration = leaf.enumeration < 0 ? nullptr : &names_.enumerations[leaf.enumeration];
        const unsigned number = sink_->variable(last, leaf.width, enumeration, same);
        if (!same) views.push_back({leaf.lowest, leaf.width, number});
        const bool is_whole = views.size() == 1 && leaf.width == variables_[handle - 1].width;
        wholes_[handle - 1] = is_whole ? Whole{number, leaf.width} : Whole{0, 0};
    }

    std::unique_ptr<waves::Sink> sink_;
    const waves::Names names_;
    std::vector<Scope> scopes_;
    std::vector<std::string> structures_;
    std::vector<Variable> variables_;
    std::vector<Whole> wholes_;
    std::vector<std::vector<View>> declared_;
    std::vector<View> views_;
    std::vector<std::uint64_t> lasts_;
    std::vector<std::uint32_t> value_, before_;
    unsigned clock_ = 0;
    bool is_first_ = true;  // All values are there in the first cycle.
};

}  // namespace fst
