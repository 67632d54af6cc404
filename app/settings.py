"""The settings of a run: a flag wins over `INSIGHTS_<NAME>`, that over the platform's `PORT`, that over the default."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from data.errors import InsightsError

MIB = 1024 * 1024
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
ANY_ADDRESS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not bound to

FLAGS = frozenset({"store", "host", "port", "prefix", "allowed_host"})


class SettingsError(InsightsError):
    """A flag or an environment variable holds a value that cannot be used."""


class _PlatformPort(PydanticBaseSettingsSource):
    """Hosting platforms name the port in `PORT`, without our prefix."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        port = os.environ.get("PORT", "")
        return {"port": port} if port else {}


class Settings(BaseSettings):
    """All that can be set. Frozen; made once, in `app.wsgi` or on the command line."""

    model_config = SettingsConfigDict(env_prefix="INSIGHTS_", frozen=True, extra="forbid", populate_by_name=True)

    source: Annotated[tuple[str, ...], NoDecode] = Field((), description="Folders to look for jobs in.")
    store: Path = Field(Path("var/store"), description="Where converted jobs are kept.")
    cache: Path | None = Field(None, description="Where query results are kept; beside the store if not given.")
    prices: Path | None = Field(None, description="A table of prices whose rows win over those that come along.")
    rules: Path | None = Field(None, description="A folder of rules of one's own.")
    profile: Path | None = Field(None, description="A file of thresholds to judge by.")
    host: str = Field("127.0.0.1", description="The address to listen on.")
    port: int = Field(8050, ge=1, le=65535, description="The port to listen on.")
    prefix: str = Field("/", description="The path the dashboard lives under, e.g. /insights/.")
    allowed_host: Annotated[tuple[str, ...], NoDecode] = Field((), description="Names the server may be called by.")
    frame_ancestors: str = Field("'none'", pattern=r"^[^;,\r\n]*$", description="Pages that may frame this one (CSP).")
    workers: int = Field(1, ge=1, le=64, description="Worker processes of the server.")
    threads: int = Field(8, ge=1, le=256, description="Threads of each worker.")
    query_seconds: float = Field(5.0, gt=0, description="Time limit of a query.")
    row_cap: int = Field(3_000_000, ge=1, description="Most rows a query may return.")
    free_space_bytes: int = Field(256 * MIB, ge=0, description="Disk space that conversions leave free.")
    convert_memory_bytes: int = Field(3072 * MIB, ge=512 * MIB, description="Memory that a conversion may use.")
    convert_seconds: int = Field(6 * 3600, ge=1, description="Time that the conversion of one job may take.")
    body_bytes: int = Field(2 * MIB, ge=1024, description="Largest request body.")
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="Least level that is logged.")

    @field_validator("source", "allowed_host", mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        """One value as it is, or several as a JSON list."""
        if not isinstance(value, str):
            return value
        if not value.lstrip().startswith("["):
            return (value,) if value else ()
        items = json.loads(value)
        if not all(isinstance(item, str) for item in items):
            raise ValueError("a JSON list must hold texts only")
        return tuple(items)

    @field_validator("allowed_host")
    @classmethod
    def _host_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.strip().lower().strip("[]") for entry in value for name in entry.split(",") if name.strip())

    @field_validator("prefix")
    @classmethod
    def _slashes(cls, value: str) -> str:
        inner = value.strip("/")
        if not all(character.isalnum() or character in "-_./" for character in inner) or ".." in inner:
            raise ValueError("a prefix is made of letters, digits, '-', '_', '.' and '/'")
        return f"/{inner}/" if inner else "/"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _PlatformPort(settings_cls)

    @property
    def cache_folder(self) -> Path:
        """The folder of cached query results: never inside the store, which others may share."""
        return self.cache or self.store.with_name(f"{self.store.name}-cache")

    @property
    def known_hosts(self) -> frozenset[str]:
        """The names under which the server answers: loopback, the address it listens on, and the allowed ones."""
        own = frozenset() if self.host in ANY_ADDRESS else {self.host.lower()}
        return LOOPBACK | own | frozenset(self.allowed_host)

    @property
    def url(self) -> str:
        """Where a person on this machine finds the dashboard."""
        host = "localhost" if self.host in ANY_ADDRESS else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self.prefix}"

    def environment(self) -> dict[str, str]:
        """These settings as the variables that give them to another process."""
        values = self.model_dump(mode="json", exclude_none=True)
        return {
            f"INSIGHTS_{name.upper()}": json.dumps(value) if isinstance(value, list) else str(value)
            for name, value in values.items()
        }


def load(**flags: Any) -> Settings:
    """The settings with these flags, where None means that a flag was not given. Raises `SettingsError`."""
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None and value != ()})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "a setting"
        flag = f"--{name.replace('_', '-')} or " if name in FLAGS else ""
        raise SettingsError(
            f"{name.replace('_', '-')}: {first['msg']} (got {first['input']!r}).",
            f"Set it with {flag}INSIGHTS_{name.upper()}.",
        ) from error
