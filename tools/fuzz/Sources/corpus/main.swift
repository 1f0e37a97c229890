import Foundation
import LegacyReceipts
import ReceiptForge

// Writes the forge's receipts, and those of folders given on the command line, as a seed corpus: one file for each form
// (as stored, and with base64 taken off).

guard let output = CommandLine.arguments.dropFirst().first else {
    print("usage: write-corpus OUTPUT-FOLDER [FOLDER-OF-RECEIPTS ...]")
    exit(2)
}
let folder = URL(filePath: output, directoryHint: .isDirectory)
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

func write(_ bytes: [UInt8], _ name: String) throws {
    guard bytes.count <= 20_000 else { return }
    try Data(bytes).write(to: folder.appending(path: name))
}

for forged in try ForgedCase.all(largePurchaseCount: 0) {
    try write(forged.bytes, "\(forged.name).\(forged.form.rawValue)")
    if let container = forged.container { try write(container, "\(forged.name).bin") }
}
for path in CommandLine.arguments.dropFirst(2) {
    let files = FileManager.default.enumerator(at: URL(filePath: path), includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
        guard file.pathExtension == "b64", let data = try? Data(contentsOf: file) else { continue }
        let name = file.deletingLastPathComponent().lastPathComponent + "-" + file.lastPathComponent
        try write(Array(data), name)
        if let container = try? ReceiptContainer(stored: Array(data)) { try write(container.bytes, name + ".bin") }
    }
}
