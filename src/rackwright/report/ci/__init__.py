"""Forms of a report that CI and code scanning read: GitHub, GitLab, JUnit, SARIF."""
