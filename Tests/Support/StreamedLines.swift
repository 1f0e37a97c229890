public import Foundation

/// The lines of `migrate --stream`.
public enum StreamedLines {
    /// The outputs that have lines with results.
    public static let outputs = ["transactions", "app-transactions", "renewal-infos", "quarantine"]

    /// The lines of each output in the order of the stream, without the member that names it. Every output has an entry.
    public static func byOutput(_ stream: [UInt8]) -> [String: [UInt8]] {
        var lines = Dictionary(uniqueKeysWithValues: outputs.map { ($0, [UInt8]()) })
        let ends = outputs.map { ($0, Array(",\"output\":\"\($0)\"}".utf8)) }
        for line in stream.split(separator: 0x0A) {
            guard let (name, end) = ends.first(where: { line.suffix($0.1.count) == $0.1[...] }) else { continue }
            lines[name]? += line[..<(line.endIndex - end.count)]
            lines[name]? += Array("}\n".utf8)
        }
        return lines
    }

    /// Writes a file for each output, `transactions.ndjson` and so on, into a folder.
    public static func write(_ stream: [UInt8], to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, bytes) in byOutput(stream) { try Data(bytes).write(to: folder.appending(path: "\(name).ndjson")) }
    }
}
