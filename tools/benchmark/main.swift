import Foundation

// Prints one JSON object per line: name, value, unit, and where there is one the reference and the ratio to it. The
// machines that run this are noisy: quote ratios, and numbers of one run together.

var receiptCount = 100_000
let arguments = Array(CommandLine.arguments.dropFirst())
if let index = arguments.firstIndex(of: "--receipts") {
    guard index + 1 < arguments.count, let count = Int(arguments[index + 1]), count > 0 else {
        FileHandle.standardError.write(Data("--receipts takes a positive number\n".utf8))
        exit(2)
    }
    receiptCount = count
}

try VerificationBenchmark().run()
// Before the very large receipts, since the peak of memory is that of the process.
try await MigrationBenchmark(receiptCount: receiptCount).run()
try LinearityBenchmark().run()
