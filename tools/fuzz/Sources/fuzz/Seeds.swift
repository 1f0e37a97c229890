import Foundation
import LegacyReceipts
import ReceiptForge

/// Writes the forge's receipts and the receipts in folders as a seed corpus: one file for each form (as stored, and
/// without base64).
struct Seeds {
    let folder: URL

    init(writingTo path: String) throws {
        folder = URL(filePath: path, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func write(receiptsIn paths: some Sequence<String>) throws {
        for forged in try ForgedCase.all(largePurchaseCount: 0) {
            try write(forged.bytes, "\(forged.name).\(forged.form.rawValue)")
            if let container = forged.container { try write(container, "\(forged.name).bin") }
        }
        for path in paths {
            let files = FileManager.default.enumerator(at: URL(filePath: path), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "b64", let data = try? Data(contentsOf: file) else { continue }
                let name = file.deletingLastPathComponent().lastPathComponent + "-" + file.lastPathComponent
                try write(Array(data), name)
                if let container = try? ReceiptContainer(stored: Array(data)) {
                    try write(container.bytes, name + ".bin")
                }
            }
        }
    }

    /// Long inputs slow libFuzzer down and reach no more code than short ones.
    private func write(_ bytes: [UInt8], _ name: String) throws {
        guard bytes.count <= 20_000 else { return }
        try Data(bytes).write(to: folder.appending(path: name))
    }
}
