// Changes of values as the blocks of an FST. They are kept in the order in which they come. A thread sorts those of a
// block by variable, encodes, compresses and writes them, while the model runs on. compression.h and Verilator's FST
// writer precede this text. Source: the format as GTKWave's fstapi.c reads it, block type 8 with LZ4.

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

namespace waves {

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

inline std::uint64_t big_endian(std::uint64_t value) { return __builtin_bswap64(value); }

// Bytes of a file, as FST has numbers.
class Bytes {
public:
    std::vector<std::uint8_t> all;

    void put(const std::uint8_t* from, std::size_t count) { all.insert(all.end(), from, from + count); }
    void number(std::uint64_t value) {
        const std::uint64_t bytes = big_endian(value);
        put(reinterpret_cast<const std::uint8_t*>(&bytes), sizeof bytes);
    }
    // LEB128.
    void variable(std::uint64_t value) {
        for (; value >> 7; value >>= 7) all.push_back(std::uint8_t(value | 0x80));
        all.push_back(std::uint8_t(value));
    }
    void variable_signed(std::int64_t value) {
        for (;; value >>= 7) {
            const bool is_last = value >= -64 && value < 64;
            all.push_back(std::uint8_t((value & 0x7f) | (is_last ? 0 : 0x80)));
            if (is_last) return;
        }
    }
};

// The changes of a block, in the order in which they came.
struct Changes {
    static constexpr unsigned COUNT_BITS = 2, MANY = 3;  // MANY words or more: as many as the variable has.
    static std::uint32_t head(unsigned number, unsigned count) { return number << COUNT_BITS | std::min(count, MANY); }

    // A change is a head and the words of its value. The head has the variable's number and how many words follow, so
    // that the next change is found before the variable's width is read. A time is number 0.
    std::vector<std::uint32_t> words;
    std::size_t used = 0;
    std::vector<std::uint32_t> counts;  // How often each variable changes, by its number.
    std::vector<std::uint64_t> times;
};

class Blocks {
public:
    // The changes go to this file, whose failures are exceptions.
    explicit Blocks(std::ofstream& file) : file_(file) {}
    ~Blocks() { close(); }

    // Variables are numbered from 1 on, and are there before the first time.
    void variable(unsigned width) {
        widths_.push_back(width);
        bits_.insert(bits_.end(), width, 'x');
    }

    void time(std::uint64_t now) {
        if (!thread_.joinable()) begin(now);
        Changes& to = *filling_;
        // There is space for all changes at this time: each variable at most once, and the clock again.
        if (to.used >= most_ || to.times.size() == MOST_TIMES) submit();
        filling_->words[filling_->used++] = 0;
        filling_->times.push_back(last_ = now);
    }
    void change(unsigned number, std::uint64_t value, unsigned width) {
        Changes& to = *filling_;
        std::uint32_t* const at = &to.words[to.used];
        const unsigned count = width > WORD_BITS ? 2 : 1;
        at[0] = Changes::head(number, count);
        at[1] = std::uint32_t(value);
        at[2] = std::uint32_t(value >> WORD_BITS);
        to.used += 1 + count;
        ++to.counts[number];
    }
    void change(unsigned number, const std::uint32_t* words, unsigned width) {
        Changes& to = *filling_;
        const unsigned count = (width + WORD_BITS - 1) / WORD_BITS;
        to.words[to.used] = Changes::head(number, count);
        std::copy_n(words, count, &to.words[to.used + 1]);
        to.used += 1 + count;
        ++to.counts[number];
    }

    // Writes the remaining changes.
    void close() {
        if (!thread_.joinable()) return;
        submit();
        {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [this] { return !is_busy_; });
            is_over_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    // The errno of a failed write, after which nothing is written; 0 if none failed.
    int problem() const { return problem_; }
    std::uint64_t first() const { return first_; }
    std::uint64_t last() const { return last_; }
    std::uint64_t count() const { return count_; }

private:
    // With at most MOST_TIMES times, the code of a difference of their indices has at most TIME_BYTES bytes. A
    // processor's cache holds LEAST_WORDS words of changes.
    static constexpr std::size_t MOST_TIMES = 4096, LEAST_WORDS = 4 << 20, TIME_BYTES = 2;
    static constexpr std::size_t SHORT = 32;  // Bytes that are not worth compressing.

    // Where the next change of a variable goes.
    struct Cursor {
        std::uint32_t at, width;
        std::uint64_t last;  // The index of its last time.
    };

    void begin(std::uint64_t now) {
        std::size_t all = 2;
        for (unsigned width : widths_) all += 1 + (width + WORD_BITS - 1) / WORD_BITS;
        // Each block has all values once, so it should have as many changes.
        most_ = std::max(LEAST_WORDS, 4 * all);
        for (Changes* changes : {&one_, &other_}) {
            // The clock changes twice, and a narrow change is written as three words.
            changes->words.resize(most_ + 2 * all + 16);
            changes->counts.assign(widths_.size() + 1, 0);
        }
        first_ = now;
        thread_ = std::thread([this] { work(); });
    }

    // Hands the changes to the thread, once it has written those of the last block.
    void submit() {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return !is_busy_; });
        std::swap(filling_, writing_);
        filling_->used = 0;
        filling_->counts.assign(widths_.size() + 1, 0);
        // A block begins with the values at the last time of the one before.
        filling_->times.assign(1, last_);
        is_busy_ = true;
        lock.unlock();
        changed_.notify_all();
    }

    void work() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return is_busy_ || is_over_; });
            if (!is_busy_) return;
            lock.unlock();
            if (!problem_) write();
            lock.lock();
            is_busy_ = false;
            changed_.notify_all();
        }
    }

    void write() {
        encode(*writing_);
        make(*writing_);
        errno = 0;
        try {
            file_.write(reinterpret_cast<const char*>(block_.all.data()), std::streamsize(block_.all.size()));
            file_.flush();
            ++count_;
        } catch (const std::ios::failure&) {
            problem_ = errno ? errno : EIO;
        }
    }

    // Sorts changes by variable: those of each are in `encoded_` from `starts_` to its cursor.
    void encode(const Changes& from) {
        const std::size_t count = widths_.size();
        cursors_.resize(count);
        starts_.resize(count);
        std::uint32_t at = 0;
        for (std::size_t i = 0; i < count; ++i) {
            starts_[i] = at;
            cursors_[i] = {at, widths_[i], 0};
            // Values are stored eight bytes at a time, the last of which may be beyond their end.
            at += from.counts[i + 1] * (TIME_BYTES + (widths_[i] + 7) / 8) + sizeof(std::uint64_t);
        }
        if (encoded_.size() < at) encoded_.resize(at);
        // The first block begins with its first time, another one with the last time of the block before it.
        std::uint64_t time = std::uint64_t(count_ == 0) * ~std::uint64_t{0};
        const std::uint32_t* const end = from.words.data() + from.used;
        for (const std::uint32_t* word = from.words.data(); word < end;) {
            const std::uint32_t number = *word >> Changes::COUNT_BITS, count = *word & Changes::MANY;
            ++word;
            if (!number) {
                ++time;
                continue;
            }
            Cursor& cursor = cursors_[number - 1];
            put(cursor, time, word);
            word += count < Changes::MANY ? count : (cursor.width + WORD_BITS - 1) / WORD_BITS;
        }
    }

    void put(Cursor& cursor, std::uint64_t time, const std::uint32_t* words) {
        std::uint8_t* at = &encoded_[cursor.at];
        const unsigned width = cursor.width;
        std::uint64_t step = time - cursor.last;
        cursor.last = time;
        step = width == 1 ? step << 2 | std::uint64_t(*words & 1) << 1 : step << 1;
        if (step >> 7) *at++ = std::uint8_t(step | 0x80), step >>= 7;
        *at++ = std::uint8_t(step);
        // The highest bits first.
        for (unsigned remaining = width == 1 ? 0 : width; remaining;) {
            const unsigned bits = std::min(remaining, NARROW_BITS);
            remaining -= bits;
            const std::uint64_t value = big_endian(narrow(words, remaining, bits) << (NARROW_BITS - bits));
            std::memcpy(at, &value, sizeof value);
            at += (bits + 7) / 8;
        }
        cursor.at = std::uint32_t(at - encoded_.data());
    }

    // Makes the block's bytes; `bits_` then have the values after it.
    void make(const Changes& from) {
        block_.all.clear();
        std::uint64_t memory = 0;
        for (std::size_t i = 0; i < widths_.size(); ++i) memory += cursors_[i].at - starts_[i];
        block_.all.push_back(std::uint8_t(fst::BlockType::WAVE_DATA_VERSION3));
        block_.number(0);
        block_.number(from.times.front());
        block_.number(from.times.back());
        block_.number(memory);
        for (std::size_t size : {bits_.size(), bits_.size(), widths_.size()}) block_.variable(size);
        block_.put(bits_.data(), bits_.size());
        put_waves();
        put_times(from.times);
        const std::uint64_t size = big_endian(block_.all.size() - 1);
        std::memcpy(&block_.all[1], &size, sizeof size);
        keep_last();
    }

    // Writes the changes of each variable, equal ones of several variables only once, and then the positions of each
    // variable's changes.
    void put_waves() {
        const std::size_t count = widths_.size();
        block_.variable(count);
        block_.all.push_back('4');
        Bytes positions;
        std::uint64_t unchanged = 0;
        std::int64_t last_alike = 1, previous = 1;
        std::size_t entries = 1;
        while (entries < 2 * count) entries *= 2;
        seen_.assign(entries, 0);
        for (std::size_t i = 0; i < count; ++i) {
            if (cursors_[i].at == starts_[i]) {
                ++unchanged;
                continue;
            }
            if (unchanged) positions.variable(unchanged << 1);
            unchanged = 0;
            const std::int64_t alike = find_alike(i);
            if (alike) {
                positions.variable_signed((alike == last_alike ? 0 : alike) * 2 + 1);
                last_alike = alike;
                continue;
            }
            positions.variable_signed(previous * 2 + 1);
            previous = put_wave(i);
        }
        if (unchanged) positions.variable(unchanged << 1);
        block_.put(positions.all.data(), positions.all.size());
        block_.number(positions.all.size());
    }

    // An earlier variable that has the same changes, as FST numbers it; 0 if there is none.
    std::int64_t find_alike(std::size_t i) {
        const std::uint8_t* const from = &encoded_[starts_[i]];
        const std::size_t size = cursors_[i].at - starts_[i];
        std::uint64_t hash = size;
        std::size_t at = 0;
        for (; at + 8 <= size; at += 8) hash = mixed(hash, from + at, 8);
        hash = mixed(hash, from + at, size - at);
        for (std::size_t index = hash >> 20;; ++index) {
            std::uint32_t& entry = seen_[index & (seen_.size() - 1)];
            if (!entry) {
                entry = std::uint32_t(i + 1);
                return 0;
            }
            const std::size_t other = entry - 1;
            if (cursors_[other].at - starts_[other] == size && !std::memcmp(from, &encoded_[starts_[other]], size)) {
                return -std::int64_t(entry);
            }
        }
    }
    static std::uint64_t mixed(std::uint64_t hash, const std::uint8_t* from, std::size_t count) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, count);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        return hash ^ hash >> 29;
    }

    // Writes the changes of a variable; how many bytes they take.
    std::int64_t put_wave(std::size_t i) {
        const std::uint8_t* const from = &encoded_[starts_[i]];
        const int size = int(cursors_[i].at - starts_[i]);
        const std::size_t begin = block_.all.size();
        if (std::size_t(size) > SHORT) {
            compressed_.resize(LZ4_compressBound(size));
            const int less = LZ4_compress_default(reinterpret_cast<const char*>(from),
                                                  reinterpret_cast<char*>(compressed_.data()), size, int(compressed_.size()));
            if (less < size) {
                block_.variable(size);
                block_.put(compressed_.data(), less);
                return std::int64_t(block_.all.size() - begin);
            }
        }
        block_.variable(0);
        block_.put(from, size);
        return std::int64_t(block_.all.size() - begin);
    }

    void put_times(const std::vector<std::uint64_t>& times) {
        Bytes steps;
        std::uint64_t last = 0;
        for (std::uint64_t time : times) {
            steps.variable(time - last);
            last = time;
        }
        block_.put(steps.all.data(), steps.all.size());
        for (std::size_t size : {steps.all.size(), steps.all.size(), times.size()}) block_.number(size);
    }

    void keep_last() {
        std::size_t first = 0;
        for (std::size_t i = 0; i < widths_.size(); first += widths_[i++]) {
            const unsigned width = widths_[i], bytes = (width + 7) / 8;
            const std::uint32_t end = cursors_[i].at;
            if (end == starts_[i]) continue;
            const std::uint8_t* at = &encoded_[end - bytes];
            if (width == 1) {
                // The value is in the first of one or two bytes.
                if (end - starts_[i] > 1 && at[-1] & 0x80) --at;
                bits_[first] = std::uint8_t('0' + (*at >> 1 & 1));
                continue;
            }
            for (unsigned bit = 0; bit < width; ++bit) {
                bits_[first + bit] = std::uint8_t('0' + (at[bit / 8] >> (7 - bit % 8) & 1));
            }
        }
    }

    std::ofstream& file_;
    std::vector<unsigned> widths_;
    std::size_t most_ = 0;
    std::uint64_t first_ = 0, last_ = 0;
    Changes one_, other_;
    Changes *filling_ = &one_, *writing_ = &other_;

    // Those of the thread.
    std::vector<std::uint8_t> bits_, encoded_, compressed_;
    std::vector<Cursor> cursors_;
    std::vector<std::uint32_t> starts_, seen_;
    Bytes block_;
    std::uint64_t count_ = 0;

    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_busy_ = false, is_over_ = false;
    std::atomic<int> problem_{0};
};

}  // namespace waves
