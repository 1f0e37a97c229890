import CoreMetrics
import Synchronization

/// A backend of swift-metrics that writes Prometheus' text format 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
///
/// The metrics are in the order of their declaration, with a help text, which swift-metrics does not have.
final class PrometheusMetrics: MetricsFactory {
    enum Kind: String {
        case counter, gauge, histogram
    }

    private struct Family {
        let name: String
        let help: String
        let kind: Kind
        /// By labels, in the format's notation.
        var handlers: [String: any PrometheusHandler] = [:]
    }

    private let families = Mutex<[Family]>([])

    /// Declares a metric. Call it before creating the first instrument of the name; a metric without samples is then
    /// listed too.
    func declare(_ kind: Kind, _ name: String, _ help: String) {
        families.withLock { $0.append(Family(name: name, help: help, kind: kind)) }
    }

    func text() -> String {
        var text = ""
        for family in families.withLock({ $0 }) {
            text += "# HELP \(family.name) \(Self.escaped(family.help))\n# TYPE \(family.name) \(family.kind)\n"
            for (labels, handler) in family.handlers.sorted(by: { $0.key < $1.key }) {
                for sample in handler.samples() {
                    let labels = [labels, sample.label].filter { !$0.isEmpty }.joined(separator: ",")
                    text += family.name + sample.suffix + (labels.isEmpty ? "" : "{\(labels)}") + " \(sample.value)\n"
                }
            }
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    // MARK: Instruments

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        handler(.counter, label, dimensions, PrometheusCounter.init)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        handler(.gauge, label, dimensions, PrometheusGauge.init)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        handler(.histogram, label, dimensions, PrometheusHistogram.init)
    }

    private func handler<Handler: PrometheusHandler>(
        _ kind: Kind, _ name: String, _ labels: [(String, String)], _ make: () -> Handler
    ) -> Handler {
        let labels = labels.map { "\($0)=\"\(Self.escaped($1).replacing("\"", with: "\\\""))\"" }
            .joined(separator: ",")
        return families.withLock { families in
            if !families.contains(where: { $0.name == name }) {
                families.append(Family(name: name, help: "", kind: kind))
            }
            let index = families.firstIndex { $0.name == name } ?? families.startIndex
            if let known = families[index].handlers[labels] as? Handler { return known }
            let made = make()
            families[index].handlers[labels] = made
            return made
        }
    }

    // The instruments live as long as the server.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

private protocol PrometheusHandler: AnyObject, Sendable {
    /// The lines of the text: the suffix of the name, a further label, and the value.
    func samples() -> [(suffix: String, label: String, value: String)]
}

private final class PrometheusCounter: CounterHandler, PrometheusHandler {
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { count.store(0, ordering: .relaxed) }

    func samples() -> [(suffix: String, label: String, value: String)] {
        [("", "", "\(count.load(ordering: .relaxed))")]
    }
}

private final class PrometheusGauge: RecorderHandler, PrometheusHandler {
    private let value = Mutex("0")

    func record(_ number: Int64) { value.withLock { $0 = "\(number)" } }

    func record(_ number: Double) { value.withLock { $0 = "\(number)" } }

    func samples() -> [(suffix: String, label: String, value: String)] { [("", "", value.withLock { $0 })] }
}

/// Durations in buckets from a tenth of a millisecond to ten seconds.
private final class PrometheusHistogram: TimerHandler, PrometheusHandler {
    /// Upper bounds in nanoseconds.
    private static let bounds: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000,
    ]

    private struct State {
        var buckets = [UInt64](repeating: 0, count: PrometheusHistogram.bounds.count + 1)
        var sum: Int64 = 0
    }

    private let state = Mutex(State())

    func recordNanoseconds(_ duration: Int64) {
        let duration = max(0, duration)
        let bucket = Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count
        state.withLock {
            $0.buckets[bucket] += 1
            $0.sum &+= duration
        }
    }

    func samples() -> [(suffix: String, label: String, value: String)] {
        let state = state.withLock { $0 }
        var total: UInt64 = 0
        var samples: [(suffix: String, label: String, value: String)] = []
        for (bound, count) in zip(Self.bounds.map(Self.seconds) + ["+Inf"], state.buckets) {
            total += count
            samples.append(("_bucket", "le=\"\(bound)\"", "\(total)"))
        }
        return samples + [("_sum", "", Self.seconds(state.sum)), ("_count", "", "\(total)")]
    }

    private static func seconds(_ nanoseconds: Int64) -> String { "\(Double(nanoseconds) / 1e9)" }
}
