/** What both servers need to know. */
export interface MailPlace {
  readonly folder: string;
  /** The servers run as these. */
  readonly user: string;
  readonly group: string;
  readonly domain: string;
  /** Of everybody. */
  readonly password: string;
}

/** `imap` offers STARTTLS. */
export function dovecotConfig(place: MailPlace, ports: { readonly imap: number; readonly imaps: number }): string {
  const { folder, user, group, password } = place;
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
first_valid_uid = 1
first_valid_gid = 1
mail_location = maildir:${folder}/mail/%n/Maildir
mail_uid = ${user}
mail_gid = ${group}
auth_mechanisms = plain login xoauth2
auth_failure_delay = 0
disable_plaintext_auth = no
auth_cache_size = 0
mail_max_userip_connections = 100
default_client_limit = 3000
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${user} gid=${group} home=${folder}/mail/%n
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    auto = subscribe
    special_use = \\Sent
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  process_min_avail = 1
  service_count = 0
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = ${ports.imaps}
    ssl = yes
  }
}
service imap {
  process_min_avail = 1
  service_count = 50
}
`;
}

/** STARTTLS and logins are offered. */
export function eximConfig({ folder, user, group, domain, password }: MailPlace): string {
  return `
primary_hostname = localhost
exim_user = ${user}
exim_group = ${group}
deliver_drop_privilege = true
spool_directory = ${folder}/spool
log_file_path = ${folder}/exim-%slog
pid_file_path = ${folder}/exim.pid
keep_environment =
domainlist local = ${domain}
acl_smtp_rcpt = check_rcpt
acl_smtp_data = check_data
tls_advertise_hosts = *
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
message_size_limit = 50M
rfc1413_query_timeout = 0s
host_lookup =
smtp_accept_max = 50
queue_run_max = 2
never_users =

begin acl
check_rcpt:
  deny    message = no such person
          condition = \${if match{$local_part}{^nobody}}
  defer   message = greylisted, try again in 1 seconds
          condition = \${if match{$local_part}{^busy}}
  accept  authenticated = *
  accept  domains = +local
  deny    message = relay not permitted
check_data:
  accept

begin routers
sent:
  driver = accept
  unseen
  condition = \${if exists{${folder}/file-sent}}
  condition = \${if def:authenticated_id}
  transport = sent
inbox:
  driver = accept
  domains = +local
  local_parts = dsearch;${folder}/mail
  transport = inbox

begin transports
inbox:
  driver = appendfile
  directory = ${folder}/mail/$local_part_data/Maildir
  maildir_format
  delivery_date_add
  return_path_add
  create_directory
sent:
  driver = appendfile
  directory = ${folder}/mail/\${lookup{\${local_part:$sender_address}}dsearch{${folder}/mail}}/Maildir/.Sent
  maildir_format
  create_directory

begin retry
* * F,1h,1m

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if eq{$auth3}{${password}}}
  server_set_id = $auth2
login:
  driver = plaintext
  public_name = LOGIN
  server_prompts = Username:: : Password::
  server_condition = \${if eq{$auth2}{${password}}}
  server_set_id = $auth1
xoauth2:
  driver = plaintext
  public_name = XOAUTH2
  server_prompts = :
  server_condition = \${if match{$auth1}{auth=Bearer ${password}}}
  server_set_id = token
`;
}
