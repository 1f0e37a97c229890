import Foundation

extension ProductCatalog {
    /// Reads and merges catalogs of every known kind.
    ///
    /// The kind is detected by the file's extension, or else by its first bytes. `.storekit` is Xcode's. `.xml`, or a
    /// folder with a `metadata.xml` (`NAME.itmsp`), is an App Store Connect feed. `.yaml` and `.yml` are ours. `.json`
    /// is ours or Xcode's, depending on its keys. Other files are feeds if they begin with `<`, JSON if they begin with
    /// `{`, and YAML otherwise.
    ///
    /// - Parameter paths: files and folders. The order decides only which name or price wins if they differ.
    /// - Throws: ``CatalogError``; a contradiction between two sources states both places.
    public static func load(paths: [String]) throws(CatalogError) -> ProductCatalog {
        var entries: [CatalogEntry] = []
        for path in paths {
            entries += try self.entries(path: path)
            guard entries.count <= CatalogLimits.entries else {
                throw CatalogError(
                    .tooLarge, at: CatalogSource(file: path), "more than \(CatalogLimits.entries) entries")
            }
        }
        return try ProductCatalog(entries: entries)
    }

    /// The entries of one file or folder, whose kind is detected as in ``load(paths:)``.
    ///
    /// - Throws: ``CatalogError``.
    public static func entries(path: String) throws(CatalogError) -> [CatalogEntry] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw CatalogError(.unreadable, at: CatalogSource(file: path), "the file or folder does not exist")
        }
        if isFolder.boolValue {
            let feed = (path.hasSuffix("/") ? String(path.dropLast()) : path) + "/metadata.xml"
            guard FileManager.default.fileExists(atPath: feed) else {
                throw CatalogError(
                    .unknownFormat, at: CatalogSource(file: path), "a folder must contain a metadata.xml")
            }
            return try MetadataFeedReader.entries(path: feed)
        }
        let ending = path.split(separator: "/").last?.split(separator: ".").last?.lowercased() ?? ""
        if ending == "xml" { return try MetadataFeedReader.entries(path: path) }
        let data = try contents(of: path, upTo: CatalogLimits.fileBytes + 1)
        switch ending {
        case "storekit":
            return try StoreKitConfigurationReader.entries(data, file: path)
        case "yaml", "yml":
            return try CatalogFileReader.entries(data, file: path)
        default:
            return try entries(detecting: data, path: path)
        }
    }

    private static func entries(detecting data: Data, path: String) throws(CatalogError) -> [CatalogEntry] {
        let bom: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = data.starts(with: bom) ? data.dropFirst(bom.count) : data
        let first = start.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if first == UInt8(ascii: "<") {
            // A feed that was read completely is not opened again, because it may be a pipe.
            return data.count <= CatalogLimits.fileBytes
                ? try MetadataFeedReader.entries(data, file: path) : try MetadataFeedReader.entries(path: path)
        }
        if first == UInt8(ascii: "{"), StoreKitConfigurationReader.recognizes(data) {
            return try StoreKitConfigurationReader.entries(data, file: path)
        }
        return try CatalogFileReader.entries(data, file: path)
    }

    /// Reads at most `limit` bytes of a file.
    private static func contents(of path: String, upTo limit: Int) throws(CatalogError) -> Data {
        let place = CatalogSource(file: path)
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw CatalogError(.unreadable, at: place, "cannot be opened")
        }
        defer { try? handle.close() }
        var data = Data()
        do {
            while data.count < limit, let chunk = try handle.read(upToCount: limit - data.count), !chunk.isEmpty {
                data.append(chunk)
            }
        } catch {
            throw CatalogError(.unreadable, at: place, "cannot be read: \(error.localizedDescription)")
        }
        return data
    }
}
