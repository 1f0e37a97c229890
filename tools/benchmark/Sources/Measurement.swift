import Foundation

/// One line of output.
struct Figure {
    let name: String
    let value: Double
    let unit: String
    /// The reference value, and the ratio to it.
    var reference: String?
    var ratio: Double?

    func report() {
        var line = "{\"name\":\"\(name)\",\"value\":\(Self.rounded(value)),\"unit\":\"\(unit)\""
        if let reference { line += ",\"reference\":\"\(reference)\"" }
        if let ratio { line += ",\"ratio\":\(Self.rounded(ratio))" }
        print(line + "}")
    }

    private static func rounded(_ value: Double) -> String { String(format: "%.3f", value) }
}

enum Clock {
    /// Microseconds per call: the median of several rounds, after an uncounted first round.
    static func microseconds(calls: Int, rounds: Int = 9, _ body: () throws -> Void) rethrows -> Double {
        var results: [Double] = []
        for round in 0...rounds {
            let start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<calls { try body() }
            let nanoseconds = DispatchTime.now().uptimeNanoseconds - start
            if round > 0 { results.append(Double(nanoseconds) / 1000 / Double(calls)) }
        }
        return results.sorted()[results.count / 2]
    }

    /// Seconds of processor time that this process has used, all threads together.
    static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The bytes that the disk read for this process; Linux only, 0 elsewhere.
    static func bytesFromDisk() -> Int {
        guard let account = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8),
            let line = account.split(separator: "\n").first(where: { $0.hasPrefix("read_bytes:") })
        else { return 0 }
        return Int(line.filter(\.isNumber)) ?? 0
    }

    /// The peak memory of this process, in MB; Linux only, 0 elsewhere.
    static func peakMegabytes() -> Double {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = Double(line.filter(\.isNumber))
        else { return 0 }
        return kilobytes / 1024
    }
}

/// Creates a temporary folder. The caller removes it.
func temporaryFolder(_ name: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}
