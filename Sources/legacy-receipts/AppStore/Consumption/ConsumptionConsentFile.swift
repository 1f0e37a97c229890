import AppStoreSync

/// The consents of customers, by transaction id. The caller states them; no consent is assumed.
struct ConsumptionConsentFile: Sendable {
    private static let maximumRows = 1_000_000

    private(set) var rows: [String: ConsumptionConsent] = [:]

    /// Reads a CSV file with the columns transactionId and customerConsented, and perhaps consumptionPercentage.
    ///
    /// - Throws: `CommandFailure` that names the lines that are wrong.
    init(file path: String) throws {
        let file = CheckedCSV(
            path: path, required: ["transactionId", "customerConsented"], optional: ["consumptionPercentage"],
            header: "transactionId,customerConsented, or the same with consumptionPercentage")
        try file.forEachRow { field in
            let mistake = add(field("transactionId"), field("customerConsented"), field("consumptionPercentage"))
            guard rows.count <= Self.maximumRows else {
                throw CommandFailure("\(path) has more than \(Self.maximumRows) rows: split it.")
            }
            return mistake
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
