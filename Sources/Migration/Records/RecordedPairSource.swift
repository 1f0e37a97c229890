internal import AppStoreModels
package import ReplyComparison

/// Reads recorded pairs from files, folders and standard input, with memory bounded by the largest record.
///
/// A record is
/// - `{"request": {…}, "response": {…}}`, see ``RecordedPair``;
/// - a receipt beside a reply, in any form and with any names that a migration reads;
/// - a reply in one file, and its receipt in a file of the same name with another extension;
/// - `{"file": "receipt.b64", "recorded_response": "reply.json"}`: paths relative to the folder of the record's file, without
///   `..`.
package final class RecordedPairSource {
    package enum Outcome: Sendable {
        case pair(RecordedPair)
        /// A record without a pair, and why.
        case skipped(place: String, reason: String)
    }

    /// The extensions of receipt files beside a reply.
    private static let receiptEndings = [".b64", ".base64", ".receipt", ".der", ".p7", ".plist", ".txt", ""]

    private let source: RecordSource

    /// - Parameter inputs: paths, `-` for standard input.
    package init(_ inputs: [String]) {
        source = RecordSource(inputs.map { InputArgument($0) })
    }

    /// The next records; nil at the end.
    ///
    /// - Throws: `InputError` where an input cannot be read.
    package func next() throws -> [Outcome]? {
        guard let batch = try source.nextBatch() else { return nil }
        return batch.records().flatMap(outcomes)
    }

    /// An array is one record if a migration recognizes none of its elements.
    private func outcomes(_ record: InputRecord) -> [Outcome] {
        guard case .unrecognized = record.payload, JSONBounds.allows(Array(record.original)),
            let elements = (try? JSONValue.parse(record.original))?.array
        else { return [outcome(record)] }
        let place = record.place.description
        return elements.enumerated().map { index, element in
            let place = "\(place), element \(index + 1)"
            return listed(element.object, place: place, input: record.place.input)
                ?? .skipped(place: place, reason: "no reply next to the receipt")
        }
    }

    private func outcome(_ record: InputRecord) -> Outcome {
        let place = record.place.description
        if let pair = RecordedPair(record.original, place: place) { return .pair(pair) }
        if let (receipt, reply) = record.payload.pair {
            return .pair(RecordedPair(receipt: receipt, reply: reply, place: place))
        }
        switch record.payload {
        case .reply(let reply):
            guard record.place.unit == .file, let receipt = receiptBeside(record.place.input) else {
                return listed(record) ?? .skipped(place: place, reason: "a reply without the receipt that was sent")
            }
            return .pair(RecordedPair(receipt: receipt, reply: reply, place: place))
        case .unrecognized(let problem):
            return listed(record) ?? .skipped(place: place, reason: problem.message)
        default:
            return listed(record) ?? .skipped(place: place, reason: "no reply next to the receipt")
        }
    }

    /// The receipt in the file with the reply's name and another extension.
    private func receiptBeside(_ reply: String) -> ArraySlice<UInt8>? {
        let folder = reply.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let name = reply.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        let stem = (folder.isEmpty && !reply.hasPrefix("/") ? "" : folder + "/") + name[..<dot]
        for ending in Self.receiptEndings where stem + ending != reply {
            guard let record = Self.whole(stem + ending), case .receipt(let bytes) = record.payload else { continue }
            return bytes
        }
        return nil
    }

    private func listed(_ record: InputRecord) -> Outcome? {
        guard JSONBounds.allows(Array(record.original)) else { return nil }
        let entry = (try? JSONValue.parse(record.original))?.object
        return listed(entry, place: record.place.description, input: record.place.input)
    }

    /// A record that names the files of receipt and reply.
    private func listed(_ entry: JSONObject?, place: String, input: String) -> Outcome? {
        guard let receipt = entry?["file"]?.string, let reply = entry?["recorded_response"]?.string else { return nil }
        let folder = input.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        func path(_ name: String) -> String? {
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            guard !parts.contains(".."), !parts.contains("") else { return nil }
            return (folder + parts).joined(separator: "/")
        }
        guard let receiptPath = path(receipt), let replyPath = path(reply) else {
            return .skipped(place: place, reason: "file names must be relative, without ..")
        }
        guard case .receipt(let bytes)? = Self.whole(receiptPath)?.payload else {
            return .skipped(place: place, reason: "the receipt's file is missing or contains no receipt")
        }
        guard let text = Self.whole(replyPath)?.original, JSONBounds.allows(Array(text)),
            let value = try? JSONValue.parse(text)
        else {
            return .skipped(place: place, reason: "the reply's file is missing or contains no JSON")
        }
        return .pair(RecordedPair(receipt: bytes, reply: value, place: replyPath))
    }

    /// The whole file as one record; nil if it cannot be read.
    private static func whole(_ path: String) -> InputRecord? {
        let source = RecordSource([.path(path)], options: InputOptions(format: .file))
        return (try? source.nextBatch())?.records().first
    }
}
