import Synchronization

/// Numbers for Prometheus, in its text format 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/). There is no backend of swift-metrics to build upon
/// here, and the server needs only three kinds.
final class MetricsRegistry: Sendable {
    /// Something that has a name, a help text and samples.
    private struct Family: Sendable {
        let name: String
        let help: String
        let type: String
        let samples: @Sendable () -> [MetricSample]
    }

    private let families = Mutex<[Family]>([])

    func counter(_ name: String, _ help: String) -> MetricCounter {
        let counter = MetricCounter()
        add(name, help, "counter") { [MetricSample(value: .integer(counter.value))] }
        return counter
    }

    /// Counters that differ by labels.
    func counters(_ name: String, _ help: String, labels: [String]) -> MetricCounters {
        let counters = MetricCounters()
        add(name, help, "counter") {
            counters.all.map { values, count in
                MetricSample(labels: Array(zip(labels, values)), value: .integer(count))
            }
        }
        return counters
    }

    /// A number that goes up and down, read for each output.
    func gauge(_ name: String, _ help: String, _ value: @escaping @Sendable () -> MetricValue) {
        add(name, help, "gauge") { [MetricSample(value: value())] }
    }

    /// A counter that another part keeps.
    func reading(_ name: String, _ help: String, _ value: @escaping @Sendable () -> UInt64) {
        add(name, help, "counter") { [MetricSample(value: .integer(value()))] }
    }

    /// External counters by one label.
    func readings(
        _ name: String, _ help: String, label: String, _ values: @escaping @Sendable () -> [(String, UInt64)]
    ) {
        add(name, help, "counter") {
            values().map { MetricSample(labels: [(label, $0.0)], value: .integer($0.1)) }
        }
    }

    /// - Parameter label: a label and its values, one histogram each; without, one histogram.
    func histograms(_ name: String, _ help: String, label: String? = nil, values: [String] = [""]) -> [MetricHistogram]
    {
        let histograms = values.map { _ in MetricHistogram() }
        add(name, help, "histogram") {
            zip(values, histograms).flatMap { value, histogram in
                histogram.samples(labels: label.map { [($0, value)] } ?? [])
            }
        }
        return histograms
    }

    private func add(
        _ name: String, _ help: String, _ type: String, _ samples: @escaping @Sendable () -> [MetricSample]
    ) {
        families.withLock { $0.append(Family(name: name, help: help, type: type, samples: samples)) }
    }

    /// The text for Prometheus.
    func text() -> String {
        let families = families.withLock { $0 }
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(Self.escaped(family.help))\n# TYPE \(family.name) \(family.type)\n"
            for sample in family.samples() {
                text += family.name + sample.suffix
                if !sample.labels.isEmpty {
                    let labels = sample.labels.map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
                    text += "{\(labels.joined(separator: ","))}"
                }
                text += " \(sample.value)\n"
            }
        }
        return text
    }

    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quotes ? escaped.replacing("\"", with: "\\\"") : escaped
    }
}

struct MetricSample {
    var suffix = ""
    var labels: [(String, String)] = []
    let value: MetricValue
}

enum MetricValue: Sendable, CustomStringConvertible {
    case integer(UInt64)
    /// Nanoseconds, shown as seconds.
    case nanoseconds(UInt64)

    var description: String {
        switch self {
        case .integer(let value): "\(value)"
        case .nanoseconds(let value): "\(Double(value) / 1e9)"
        }
    }
}

final class MetricCounter: Sendable {
    private let count = Atomic<UInt64>(0)

    var value: UInt64 { count.load(ordering: .relaxed) }

    func add(_ amount: UInt64 = 1) { count.wrappingAdd(amount, ordering: .relaxed) }
}

/// Counters by label values. Labels come from small closed sets, never from what a client sends.
final class MetricCounters: Sendable {
    private let counts = Mutex<[[String]: UInt64]>([:])

    func add(_ labels: String...) { counts.withLock { $0[labels, default: 0] += 1 } }

    func add(_ amount: UInt64, _ label: String) { counts.withLock { $0[[label], default: 0] += amount } }

    func value(_ labels: String...) -> UInt64 { counts.withLock { $0[labels] ?? 0 } }

    var all: [([String], UInt64)] {
        counts.withLock { Array($0) }.map { ($0.key, $0.value) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
    }
}

/// Durations in buckets from a tenth of a millisecond to ten seconds.
final class MetricHistogram: Sendable {
    /// Upper bounds in nanoseconds, and their labels.
    private static let bounds: [(UInt64, String)] = [
        (100_000, "0.0001"), (250_000, "0.00025"), (500_000, "0.0005"), (1_000_000, "0.001"), (2_500_000, "0.0025"),
        (5_000_000, "0.005"), (10_000_000, "0.01"), (25_000_000, "0.025"), (50_000_000, "0.05"),
        (100_000_000, "0.1"), (250_000_000, "0.25"), (500_000_000, "0.5"), (1_000_000_000, "1.0"),
        (2_500_000_000, "2.5"), (10_000_000_000, "10.0"),
    ]

    private struct State {
        var buckets = [UInt64](repeating: 0, count: MetricHistogram.bounds.count + 1)
        var sum: UInt64 = 0
    }

    private let state = Mutex(State())

    func observe(nanoseconds: Int64) {
        let duration = UInt64(max(0, nanoseconds))
        let bucket = Self.bounds.firstIndex { duration <= $0.0 } ?? Self.bounds.count
        state.withLock {
            $0.buckets[bucket] += 1
            $0.sum &+= duration
        }
    }

    fileprivate func samples(labels: [(String, String)]) -> [MetricSample] {
        let state = state.withLock { $0 }
        var total: UInt64 = 0
        var samples: [MetricSample] = []
        for (index, bound) in (Self.bounds.map(\.1) + ["+Inf"]).enumerated() {
            total += state.buckets[index]
            samples.append(MetricSample(suffix: "_bucket", labels: labels + [("le", bound)], value: .integer(total)))
        }
        samples.append(MetricSample(suffix: "_sum", labels: labels, value: .nanoseconds(state.sum)))
        samples.append(MetricSample(suffix: "_count", labels: labels, value: .integer(total)))
        return samples
    }
}
