import Foundation
import LegacyReceipts
import ReceiptForge

/// Writes a table like a backend's: a row per receipt that an app sent. A customer has a monthly subscription and an unlocked
/// feature. The app sends its receipt at each start, so each receipt is in several rows, and the next receipt has one more
/// period. The rows are in the order of their dates; the customers are mixed.
struct StoredRows {
    let rows: Int
    let customers: Int
    let folder: URL

    /// The number of rows with the same receipt.
    private static let startsPerReceipt = 10
    private static let month: Int64 = 2_629_800_000
    private static let begin: Int64 = 1_704_067_200_000

    /// Reads `--rows N`, `--customers N` and `--to DIR` from the arguments of the benchmark.
    init(arguments: [String]) {
        guard let index = arguments.firstIndex(of: "--to"), index + 1 < arguments.count else {
            usage("--to takes a folder")
        }
        self.init(arguments: arguments, folder: URL(fileURLWithPath: arguments[index + 1]))
    }

    /// Reads `--rows N` and `--customers N` from the arguments of the benchmark.
    init(arguments: [String], folder: URL) {
        func number(_ name: String, _ usual: Int) -> Int {
            guard let index = arguments.firstIndex(of: name) else { return usual }
            guard index + 1 < arguments.count, let number = Int(arguments[index + 1]), number > 0 else {
                usage("\(name) takes a positive number")
            }
            return number
        }
        rows = number("--rows", 1_000_000)
        customers = min(number("--customers", 10_000), rows)
        self.folder = folder
    }

    /// Writes `rows.csv`, and `root.pem` for `--trust-root`.
    func run() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let root = Data(try TestCertificateAuthority.shared().root.der).base64EncodedString(
            options: .lineLength64Characters)
        try Data("-----BEGIN CERTIFICATE-----\n\(root)\n-----END CERTIFICATE-----\n".utf8).write(
            to: folder.appendingPathComponent("root.pem"))
        let path = folder.appendingPathComponent("rows.csv")
        _ = FileManager.default.createFile(atPath: path.path, contents: Data("id,user_id,sent_at,receipt\n".utf8))
        let file = try FileHandle(forWritingTo: path)
        defer { try? file.close() }
        try file.seekToEnd()
        var receipts = [String](repeating: "", count: customers)
        var chunk = Data()
        for row in 0..<rows {
            let (round, customer) = row.quotientAndRemainder(dividingBy: customers)
            let (period, start) = round.quotientAndRemainder(dividingBy: Self.startsPerReceipt)
            if start == 0 { receipts[customer] = try receipt(of: customer, periods: period + 1) }
            let date = Self.begin + Int64(period) * Self.month + Int64(start) * 86_400_000
            chunk.append(Data("\(row + 1),u\(customer + 1),\(date),\(receipts[customer])\n".utf8))
            if chunk.count > 4 << 20 {
                try file.write(contentsOf: chunk)
                chunk.removeAll(keepingCapacity: true)
            }
        }
        try file.write(contentsOf: chunk)
        let receiptCount = (0..<customers).reduce(0) { count, customer in
            let rounds = (rows - customer + customers - 1) / customers
            return count + (rounds + Self.startsPerReceipt - 1) / Self.startsPerReceipt
        }
        Figure(name: "rows of \(customers) customers", value: Double(rows), unit: "rows").report()
        Figure(name: "different receipts", value: Double(receiptCount), unit: "receipts").report()
    }

    private func receipt(of customer: Int, periods: Int) throws -> String {
        let id = 700_000_000_000_000 + customer * 1_000
        func instant(_ period: Int) -> ForgedInstant {
            ForgedInstant(milliseconds: Self.begin + Int64(period) * Self.month + Int64(customer) * 1_000)
        }
        var receipt = ForgedAppReceipt.bulk(Int64(customer), purchases: 0)
        receipt.bundleId = "com.example.orchard"
        receipt.creationDate = .seconds(instant(periods - 1))
        receipt.purchases = (0..<periods).map { period in
            var purchase = ForgedPurchase(
                .autoRenewable, product: "com.example.orchard.monthly", id: "\(id + period)", at: instant(period),
                originalId: "\(id)", originallyAt: instant(0))
            purchase.expiresDate = .seconds(instant(period + 1))
            purchase.webOrderLineItemId = Int64(id + 500 + period)
            return purchase
        }
        receipt.purchases.append(
            ForgedPurchase(.nonConsumable, product: "com.example.orchard.tree", id: "\(id + 999)", at: instant(0)))
        return Data(try receipt.signedData(.g5).encoded()).base64EncodedString()
    }
}
