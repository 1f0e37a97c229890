import AppStoreModels

extension MigrationPlan {
    /// The plan as one JSON object on one line, with a line feed. Unknown numbers have no member.
    ///
    /// - Parameter command: the arguments of the migration, the program first.
    public func json(command: [String]) -> [UInt8] {
        JSONWriter.object(reservingCapacity: 4096, endsLine: true) { writer in
            writer.member("version", 1)
            writer.objects("sources", sources) { writer, source in source.writeMembers(to: &writer) }
            writer.member("summary", json: summary.json().filter { $0 != 0x0A })
            writer.objects("quarantine", quarantine) { writer, reason in
                writer.member("reason", reason.reason)
                writer.member("message", reason.message)
                writer.member("records", reason.records)
                writer.member("documents", reason.documents)
                writer.member("place", reason.place)
                writer.member("sha256", reason.sha256)
            }
            writer.member("isWhole", isWhole)
            writer.member("records", records)
            writer.member("jobs", jobs)
            writer.member("recordsPerSecondAndCore", recordsPerSecond.map(Self.integer))
            writer.member("expectedSeconds", expectedSeconds.map(Self.integer))
            writer.member("expectedBytes", expectedBytes.map(Self.integer))
            writer.member("storeEngine", engine?.rawValue)
            writer.array("command", command) { $0.string($1) }
        }
    }

    /// Rounded up.
    private static func integer(_ number: Double) -> Int64 { Int64(exactly: number.rounded(.up)) ?? .max }
}

extension MigrationPlan.Source {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.member("name", name)
        writer.member("sampledRecords", sampledRecords)
        writer.member("isWhole", isWhole)
        writer.member("bytes", bytes)
        writer.member("records", records)
        writer.objects("columns", columns) { writer, column in
            writer.member("path", column.path)
            writer.object("fates") { writer in
                writer.members(column.fates.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            }
            writer.member("cause", column.cause?.rawValue)
            writer.member("isUser", column.isUser)
            writer.member("isKept", column.isKept)
            writer.member("role", column.role?.rawValue)
        }
    }
}
