public import ArgumentParser
public import ReceiptMigration

extension MigrationOptions.RecordFormat: ExpressibleByArgument {}
extension MigrationOptions.OutputFormat: ExpressibleByArgument {}
