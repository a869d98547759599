package job

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations bring a database from one version to the next; user_version counts
// how many of them it has seen. What was released is never changed.
var migrations = []string{
	`CREATE TABLE jobs (
		id TEXT PRIMARY KEY,
		kind TEXT NOT NULL,
		instance TEXT NOT NULL,
		board TEXT NOT NULL,
		serial TEXT NOT NULL,
		chip TEXT NOT NULL,
		image TEXT NOT NULL,
		sha256 TEXT NOT NULL,
		size INTEGER NOT NULL,
		options TEXT NOT NULL,
		live_key TEXT NOT NULL,
		requester TEXT NOT NULL,
		state TEXT NOT NULL,
		attempts INTEGER NOT NULL DEFAULT 0,
		created INTEGER NOT NULL,
		updated INTEGER NOT NULL,
		expires INTEGER NOT NULL,
		approver TEXT NOT NULL DEFAULT '',
		result TEXT NOT NULL DEFAULT '',
		error TEXT NOT NULL DEFAULT ''
	);
	CREATE UNIQUE INDEX jobs_live ON jobs (live_key)
		WHERE state IN ('queued', 'awaiting_approval', 'approved', 'flashing', 'verifying');
	CREATE TABLE events (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
		time INTEGER NOT NULL,
		state TEXT NOT NULL,
		who TEXT NOT NULL,
		detail TEXT NOT NULL
	);
	CREATE INDEX events_job ON events (job, id);`,
	// What would change on the board, and why it was asked for.
	`ALTER TABLE jobs ADD COLUMN changes TEXT NOT NULL DEFAULT '';
	ALTER TABLE jobs ADD COLUMN reason TEXT NOT NULL DEFAULT '';
	CREATE INDEX jobs_state ON jobs (state, created);`,
}

// migrate brings a database to the newest version. One of a newer program is left
// alone.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("the queue is of version %d, this program knows %d", version, len(migrations))
	}
	if version == len(migrations) {
		return nil
	}
	for ; version < len(migrations); version++ {
		if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
			return fmt.Errorf("version %d: %w", version+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}
