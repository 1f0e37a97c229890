import CoreMetrics
import Synchronization

/// The instruments of the server. `/metrics` shows them, and the process's swift-metrics backend gets the same numbers.
final class MetricsRegistry: Sendable {
    private let prometheus = PrometheusMetrics()
    private let factory: any MetricsFactory
    /// Closures that record a number that another part of the server counts.
    private let readings = Mutex<[@Sendable () -> Void]>([])

    /// - Parameter backend: gets every number too.
    init(backend: any MetricsFactory) {
        factory =
            backend is NOOPMetricsHandler ? prometheus : MultiplexMetricsHandler(factories: [prometheus, backend])
    }

    func counter(_ name: String, _ help: String) -> Counter {
        prometheus.declare(.counter, name, help)
        return Counter(label: name, factory: factory)
    }

    /// Counters that differ by labels.
    func counters(_ name: String, _ help: String, labels: String...) -> LabeledCounter {
        prometheus.declare(.counter, name, help)
        return LabeledCounter { [factory] values in
            Counter(label: name, dimensions: Array(zip(labels, values)), factory: factory)
        }
    }

    /// Counters that another part of the server counts, by the values of a label.
    func counters(_ name: String, _ help: String, label: String, _ totals: @escaping @Sendable () -> [String: Int]) {
        let counters = counters(name, help, labels: label)
        read { for (value, total) in totals() { counters.update(to: total, value) } }
    }

    /// A counter that another part of the server counts.
    func counter(_ name: String, _ help: String, _ total: @escaping @Sendable () -> Int) {
        let counters = counters(name, help)
        read { counters.update(to: total()) }
    }

    /// A number that goes up and down.
    func gauge(_ name: String, _ help: String, _ value: @escaping @Sendable () -> Int) {
        let gauge = gauge(name, help)
        read { gauge.record(value()) }
    }

    func gauge(_ name: String, _ help: String) -> Gauge {
        prometheus.declare(.gauge, name, help)
        return Gauge(label: name, factory: factory)
    }

    func timer(_ name: String, _ help: String) -> CoreMetrics.Timer {
        prometheus.declare(.histogram, name, help)
        return CoreMetrics.Timer(label: name, factory: factory)
    }

    /// - Parameters:
    ///   - name: the name of the metric.
    ///   - help: its help text.
    ///   - label: the label; each of its values has a timer.
    ///   - values: the values of the label.
    func timers(_ name: String, _ help: String, label: String, values: [String]) -> [CoreMetrics.Timer] {
        prometheus.declare(.histogram, name, help)
        return values.map { CoreMetrics.Timer(label: name, dimensions: [(label, $0)], factory: factory) }
    }

    /// - Parameter record: called before each output.
    func read(_ record: @escaping @Sendable () -> Void) { readings.withLock { $0.append(record) } }

    /// Records the numbers that other parts of the server count.
    func readAll() { readings.withLock { for record in $0 { record() } } }

    /// The text for Prometheus.
    func text() -> String {
        readAll()
        return prometheus.text()
    }
}

/// Counters by label values. Labels come from small fixed sets, never from a client's input.
final class LabeledCounter: Sendable {
    private let make: @Sendable ([String]) -> Counter
    private let counters = Mutex<[[String]: (counter: Counter, total: Int)]>([:])

    init(_ make: @escaping @Sendable ([String]) -> Counter) { self.make = make }

    func add(_ values: String..., amount: Int = 1) {
        let counter = counters.withLock { counters -> Counter in
            if let known = counters[values] { return known.counter }
            let made = make(values)
            counters[values] = (made, 0)
            return made
        }
        counter.increment(by: amount)
    }

    /// Sets a counter to a total. If the total is smaller than before, it was reset to 0.
    func update(to total: Int, _ values: String...) {
        counters.withLock { counters in
            var (counter, last) = counters[values] ?? (make(values), 0)
            if total < last {
                counter.reset()
                last = 0
            }
            counter.increment(by: total - last)
            counters[values] = (counter, total)
        }
    }
}
