import AppStoreSync

/// What customers agreed to, by transaction id. The caller states it; nothing is assumed.
struct ConsumptionConsentFile: Sendable {
    private static let columns = ["transactionId", "customerConsented", "consumptionPercentage"]
    private static let maximumRows = 1_000_000
    private static let maximumMistakes = 10

    private(set) var rows: [String: ConsumptionConsent] = [:]

    /// Reads a CSV file with the columns transactionId and customerConsented, and perhaps consumptionPercentage.
    ///
    /// - Throws: `CommandFailure` that names the lines that are wrong.
    init(file path: String) throws {
        var places: [String: Int] = [:]
        var columns = 0
        var mistakes: [String] = []
        var number = 0
        try FileLines.forEach(path) { line in
            number += 1
            let fields = FileLines.fields(number == 1 && line.hasPrefix("\u{FEFF}") ? line.dropFirst() : line[...])
            guard columns > 0 else {
                columns = fields.count
                for (place, name) in fields.enumerated() { places[name] = place }
                guard places.count == columns, Set(places.keys).isSubset(of: Self.columns),
                    Self.columns.prefix(2).allSatisfy({ places[$0] != nil })
                else {
                    throw CommandFailure(
                        """
                        The first line of \(path) must be the header transactionId,customerConsented, \
                        or the same with consumptionPercentage.
                        """)
                }
                return
            }
            guard fields != [""], mistakes.count < Self.maximumMistakes else { return }
            guard fields.count == columns else {
                mistakes.append("Line \(number) has \(fields.count) columns instead of \(columns).")
                return
            }
            func field(_ name: String) -> String { places[name].map { fields[$0] } ?? "" }
            if let mistake = add(field(Self.columns[0]), field(Self.columns[1]), field(Self.columns[2])) {
                mistakes.append("Line \(number): \(mistake)")
            }
            guard rows.count <= Self.maximumRows else {
                throw CommandFailure("\(path) has more than \(Self.maximumRows) rows: split it.")
            }
        }
        guard columns > 0 else { throw CommandFailure("\(path) is empty.") }
        guard mistakes.isEmpty else {
            throw CommandFailure("Nothing was sent, correct \(path):\n" + mistakes.joined(separator: "\n"))
        }
    }

    /// Adds a row, or returns what is wrong with it.
    private mutating func add(_ id: String, _ consented: String, _ percentage: String) -> String? {
        guard !id.isEmpty else { return "The transactionId is empty." }
        guard consented == "true" || consented == "false" else {
            return "customerConsented is '\(consented)' instead of true or false."
        }
        var milliunits: Int32?
        if !percentage.isEmpty {
            guard let value = Double(percentage), value >= 0, value <= 100 else {
                return "consumptionPercentage is '\(percentage)' instead of a number from 0 to 100."
            }
            milliunits = Int32((value * 1_000).rounded())
        }
        let row = ConsumptionConsent(customerConsented: consented == "true", consumptionPercentage: milliunits)
        guard let known = rows.updateValue(row, forKey: id), known != row else { return nil }
        return "\(id) has other values above."
    }
}
