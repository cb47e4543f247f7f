// The names of signals, and the meaning of their bits. `Names` reads the text that names.py writes.

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace waves {

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

}  // namespace waves
