import AppStoreModels

extension MigrationPlan {
    /// The plan as one JSON object on one line, with a line feed. Unknown numbers have no member.
    ///
    /// - Parameter command: the arguments of the migration, the program first.
    public func json(command: [String]) -> [UInt8] {
        JSONWriter.object(reservingCapacity: 4096, endsLine: true) { writer in
            writer.member("version", 1)
            writer.array("sources", sources) { writer, source in source.write(to: &writer) }
            writer.key("summary")
            writer.raw(summary.json().filter { $0 != 0x0A })
            writer.objects("quarantine", quarantine) { writer, reason in
                writer.member("reason", reason.reason)
                writer.member("message", reason.message)
                writer.member("records", Int64(reason.records))
                writer.member("documents", Int64(reason.documents))
                writer.member("place", reason.place)
                writer.member("sha256", reason.sha256)
            }
            writer.key("isWhole")
            writer.boolean(isWhole)
            if let records { writer.member("records", Int64(records)) }
            writer.member("jobs", Int64(jobs))
            if let rate = recordsPerSecond { writer.member("recordsPerSecondAndCore", Self.integer(rate)) }
            if let seconds = expectedSeconds { writer.member("expectedSeconds", Self.integer(seconds)) }
            if let bytes = expectedBytes { writer.member("expectedBytes", Self.integer(bytes)) }
            writer.array("command", command) { $0.string($1) }
        }
    }

    /// Rounded up.
    private static func integer(_ number: Double) -> Int64 { Int64(exactly: number.rounded(.up)) ?? .max }
}

extension MigrationPlan.Source {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("sampledRecords", Int64(sampledRecords))
        writer.key("isWhole")
        writer.boolean(isWhole)
        if let bytes { writer.member("bytes", Int64(bytes)) }
        if let records { writer.member("records", Int64(records)) }
        writer.objects("columns", columns) { writer, column in
            writer.member("path", column.path)
            writer.object("fates") { writer in
                for (fate, count) in column.fates.sorted(by: { $0.key < $1.key }) {
                    writer.key(fate)
                    writer.integer(count)
                }
            }
            if let cause = column.cause { writer.member("cause", cause.rawValue) }
            writer.key("isUser")
            writer.boolean(column.isUser)
            writer.key("isKept")
            writer.boolean(column.isKept)
            writer.member("role", column.role?.rawValue)
        }
        writer.endObject()
    }
}
